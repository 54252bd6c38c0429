#include "answers/passages.hpp"

namespace rkllm_mcp::sim {
namespace {

constexpr std::string_view kEnglish[] = {
    " The small board on the desk hums quietly while it thinks about the next word.",
    " A good answer is short, and it says where its figures come from.",
    " Rain fell on the harbour all morning, so the boats stayed in.",
    " First measure, then change one thing, then measure again.",
    " The train left at seven with three empty seats and a sleeping cat.",
    " Nobody had read the manual, but everyone had an opinion about it.",
    " Water boils at a lower temperature on a high mountain.",
    " If the light is green, the door is open; if it is red, please wait.",
    " She wrote the list by hand: bread, salt, two lemons and a candle.",
    " Most of the memory is used by the weights, the rest by the conversation.",
    " They walked back along the river and counted the bridges.",
    " The second attempt took less time, because the first had failed in a useful way.",
    " \"How far is it?\" he asked, and nobody could say.",
    " Here is a plan:\n1. open the window\n2. listen\n3. write down what you hear\n",
};

constexpr std::string_view kVietnamese[] = {
    " Xin chào, đây là một câu trả lời được mô phỏng.",
    " Hôm nay trời nắng đẹp, gió nhẹ thổi từ phía biển.",
    " Hà Nội có nhiều hồ nước và những con phố nhỏ rất đông người.",
    " Một ly cà phê sữa đá giúp buổi sáng bắt đầu dễ dàng hơn.",
    " Bạn hãy kiểm tra kết quả trước khi đưa ra quyết định.",
    " Chiếc thuyền nhỏ trở về bến khi mặt trời vừa lặn.",
    " Người thợ già kể lại câu chuyện về cây cầu gỗ đầu làng.",
};

constexpr std::string_view kChinese[] = {
    " 你好，这是一段模拟的回答。",       " 今天的天气很好，我们去河边散步吧。", " 小小的开发板正在安静地思考下一个词。",
    " 先测量，再修改，然后再测量一次。", " 山上的茶园在清晨被白雾包围。",       " 图书馆里很安静，只能听到翻书的声音。",
    " 请把结果写在纸上，并注明日期。",
};

constexpr std::string_view kJapanese[] = {
    " こんにちは、これは模擬の回答です。",       " 窓の外では静かに雨が降っています。",
    " 駅前の小さな店で温かいお茶を飲みました。", " 次の電車は七時に出発します。",
    " 測ってから直し、もう一度測りましょう。",   " 猫は椅子の上で丸くなって眠っています。",
};

constexpr std::string_view kEmoji[] = {
    " 🙂👍", " 🌧️☔ → ☕📖", " 🚀✨🎉", " 🐱💤", " 👩‍🔬🔬✅", " 🇻🇳🌊⛵",
};

}  // namespace

std::span<const std::string_view> passages(Language language) {
  switch (language) {
    case Language::kEnglish: return kEnglish;
    case Language::kVietnamese: return kVietnamese;
    case Language::kChinese: return kChinese;
    case Language::kJapanese: return kJapanese;
    case Language::kEmoji: return kEmoji;
  }
  return {};
}

}  // namespace rkllm_mcp::sim
