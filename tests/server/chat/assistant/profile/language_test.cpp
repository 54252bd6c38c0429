// In which language somebody writes, and the words of a profile.
#include "chat/assistant/profile/language.hpp"
#include "chat/assistant/profile/wording.hpp"

#include "support/catch.hpp"

#include <string>

using namespace rkllm_mcp::chat;

namespace {

std::string_view code(std::string_view text, Language unless_known = Language::kEnglish) {
  return code_of(language_of(text, unless_known));
}

}  // namespace

TEST_CASE("Vietnamese is known by its own letters, by two marks on one, and without marks by its syllables") {
  CHECK(code("Một ngày nên đánh răng bao nhiêu lần?") == "vi");
  CHECK(code("Răng tôi đau") == "vi");
  CHECK(code("Ðau quá, làm sao bây giờ") == "vi");
  CHECK(code("sa\u0302u ra\u0306ng a\u0323") == "vi");  // decomposed
  CHECK(code("mot ngay nen danh rang bao nhieu lan") == "vi");
  CHECK(code("TOI BI DAU RANG") == "vi");
}

TEST_CASE("a name does not make a longer text Vietnamese, and what it quotes does not make it English") {
  CHECK(code("Please write a short letter to my dentist Dr. Nguyễn Văn Đức in Huế and tell her that I cannot come on "
             "Monday "
             "because my train is late, and ask whether Thursday afternoon would be possible instead.") == "en");
  CHECK(
      code("Giải thích đoạn văn sau: The quick brown fox jumps over the lazy dog because it was bored of lying in the "
           "sun all day long, and the neighbours were away, so there was nobody to play with.") == "vi");
  CHECK(code("Toi bi dau rang ham duoi ben trai da ba ngay hom nay, nhat la khi uong nuoc lanh hoac an do ngot. Toi da "
             "uong thuoc giam dau nhung khong do.") == "vi");
  CHECK(code("HÔM QUA TÔI ĐI KHÁM RĂNG, BÁC SĨ NÓI RẰNG TÔI CẦN NHỔ RĂNG KHÔN VÌ NÓ MỌC LỆCH VÀ LÀM ĐAU CÁC RĂNG BÊN "
             "CẠNH") == "vi");
  CHECK(
      code("Ich habe seit drei Tagen Zahnschmerzen im linken Unterkiefer, besonders wenn ich kaltes Wasser trinke oder "
           "etwas Süßes esse.") == "en");
  CHECK(code("Nguyễn Văn Đức") == "vi");
  CHECK(code("Ich habe seit drei Tagen Zahnschmerzen im linken Unterkiefer, und Dr. Nguyễn Văn Đức aus Huế ist nicht "
             "da.") == "en");
  CHECK(code("How do I make a good bowl of phở at home for my family of five, with beef and without too much work?") ==
        "en");
  CHECK(code("Is phở good?") == "vi");  // too short to tell
  // What is behind a long text counts, and so does what is before one.
  std::string long_one;
  while (long_one.size() < 20'000)
    long_one +=
        "The dentist Dr. Nguyễn Văn Đức has rooms near the station, between the bakery and the old library. Whoever "
        "has an appointment may wait upstairs, where there are newspapers, a coffee machine and a view of the market. ";
  CHECK(code(long_one, Language::kVietnamese) == "en");
  for (std::size_t cut = 0; cut < 220; ++cut) CHECK(code(long_one.substr(cut), Language::kVietnamese) == "en");
  CHECK(code(long_one + "Tóm tắt giúp tôi bằng tiếng Việt") == "vi");
  CHECK(code("Tóm tắt giúp tôi bằng tiếng Việt: " + long_one) == "vi");
  CHECK(code("Please tell me what this output of the program of Dr. Nguyễn means, \x1b[31mred\x1b[0m and\x0b so on, "
             "and what I "
             "can do about it now.") == "en");
  std::string broken(200, '\xff');
  CHECK(code(broken, Language::kVietnamese) == "vi");
}

TEST_CASE("other languages with marks are not taken for Vietnamese, and what has no words is the profile's") {
  CHECK(code("How often should I brush my teeth?") == "en");
  CHECK(code("Où est mon dentiste préféré, à côté de l'hôtel ?") == "en");
  CHECK(code("¿Cuántas veces? Señor, así está bien") == "en");
  CHECK(code("Wie oft? Schöne Grüße, süß") == "en");
  CHECK(code("Is it really all right for bi nen?") == "en");  // two of them among others
  CHECK(code("?! 12", Language::kVietnamese) == "vi");
  CHECK(code("", Language::kVietnamese) == "vi");
  CHECK(code("歯が痛い", Language::kVietnamese) == "vi");
}

TEST_CASE("the first word of a guardrail decides, in both languages, and other words decide nothing") {
  for (const char* const yes : {"YES", "Yes.", "**yes**", "CÓ", "Có, câu hỏi này", "có", " \nCo"})
    CHECK(yes_or_no(yes) == true);
  for (const char* const no : {"NO", "No, it is not", "KHÔNG", "Không.", "không có", "khong"})
    CHECK(yes_or_no(no) == false);
  for (const char* const other : {"", "   ", "Maybe yes", "Câu hỏi", "nothing", "yesterday", "12"}) {
    CHECK_FALSE(yes_or_no(other).has_value());
  }
}

TEST_CASE("a paragraph whose holes are empty is left out, and what fills a hole is not looked at again") {
  const std::string text = "Head.\n\nSummary:\n{summary}\n\nAsked: {question}, {search}\n\nEnd {of} it {";
  CHECK(filled(text, {{"summary", ""}, {"question", "{search}"}, {"search", ""}}) ==
        "Head.\n\nAsked: {search}, \n\nEnd {of} it {");
  CHECK(filled(text, {{"summary", "S"}, {"question", "q"}, {"search", "r"}}) ==
        "Head.\n\nSummary:\nS\n\nAsked: q, r\n\nEnd {of} it {");
  CHECK(filled("{question}", {{"question", ""}}) == "");
  CHECK(filled("", {}) == "");
}
