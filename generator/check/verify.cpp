#include "check/verify.hpp"

#include "diagnostics.hpp"
#include "files.hpp"
#include "read/parse.hpp"
#include "read/system_headers.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace bindgen {
namespace {

constexpr const char* kHint =
    "nothing was written. That a header and an overlay which are not refused lead to such code is a fault of this "
    "tool; "
    "please report it, with both";

// A header that is not found is no fault of the generated code: the hint then says where it was looked for.
std::string hint_of(const Diagnostic& complaint, const std::vector<std::string>& folders) {
  if (complaint.message.find("file not found") == std::string::npos) return kHint;
  std::string searched;
  for (const std::string& folder : folders) searched += "\n" + folder;
  return "the support headers that generated code includes were looked for in these folders; --include DIR adds one" +
         searched;
}

bool is_cpp(const std::string& path) { return path.size() > 4 && path.compare(path.size() - 4, 4, ".hpp") == 0; }

// A file of the temporary folder is what it will be in the output.
void rename(Diagnostic& complaint, const std::string& folder, const std::string& out) {
  if (complaint.at.file.compare(0, folder.size() + 1, folder + "/") == 0)
    complaint.at.file = out + complaint.at.file.substr(folder.size());
}

// The outermost namespace that a header declares; empty if it declares none.
std::string namespace_of(const std::vector<std::string>& lines) {
  const std::string begin = "namespace ";
  for (const std::string& line : lines) {
    if (line.rfind(begin, 0) == 0) return line.substr(begin.size(), line.find(" {") - begin.size());
  }
  return {};
}

// A complaint at the line of the overlay that has "namespace".
Diagnostic at_namespace(const std::string& overlay, std::string message, std::string hint) {
  const auto lines = lines_of(read_text(overlay));
  const std::string key = "\"namespace\"";
  const auto said = std::find_if(lines.begin(), lines.end(),
                                 [&](const std::string& line) { return line.find(key) != std::string::npos; });
  if (said == lines.end()) return {{overlay, 0, 0}, std::move(message), "", std::move(hint)};
  const auto line = static_cast<unsigned>(said - lines.begin() + 1);
  return {{overlay, line, static_cast<unsigned>(said->find(key) + 1)}, std::move(message), *said, std::move(hint)};
}

}  // namespace

void refuse_other_namespace(const Overlay& overlay, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    const std::filesystem::path header = std::filesystem::path(folder) / overlay.include_root / "abi_set.hpp";
    if (!std::filesystem::is_regular_file(header)) continue;
    const std::string theirs = namespace_of(lines_of(read_text(header)));
    if (theirs == overlay.cpp_namespace || theirs.empty()) return;
    throw Refusal({at_namespace(overlay.path,
                                "code in namespace " + overlay.cpp_namespace + " would not compile: the support " +
                                    "headers (" + header.string() + ") are in namespace " + theirs,
                                "write \"namespace\": \"" + theirs + "\"")});
  }
}

void verify(const std::vector<File>& files, const std::vector<std::string>& folders, const std::string& out) {
  const TemporaryFolder folder;
  std::string all;
  for (const File& file : files) {
    if (!is_cpp(file.path)) continue;
    folder.write(file.path, file.text);
    all += "#include \"" + file.path + "\"\n";
  }
  folder.write("all.cpp", all);
  const std::string main = (folder.path() / "all.cpp").string();

  const clang::Index index(clang_createIndex(0, 0));
  for (const char* const target : kTargets) {
    const auto headers = system_headers(target, Language::kCpp);
    if (!headers) {
      throw Refusal({out, 0, 0}, std::string("cannot be compiled for ") + target + ": clang finds no headers of C++",
                    "",
                    "in Debian they are in the package g++; those of another machine in g++-aarch64-linux-gnu, for "
                    "example");
    }
    std::vector<std::string> options = {"-x", "c++", "-std=c++20",          std::string("--target=") + target,
                                        "-w", "-I",  folder.path().string()};
    for (const std::string& support : folders) options.insert(options.end(), {"-I", support});
    options.insert(options.end(), headers->options.begin(), headers->options.end());
    std::vector<Diagnostic> complaints = errors_of(run_clang(index, main, options, {}));
    if (complaints.empty()) continue;
    for (Diagnostic& complaint : complaints) {
      rename(complaint, folder.path().string(), out);
      complaint.message += std::string(", compiled for ") + target;
    }
    complaints.back().hint = hint_of(complaints.front(), folders);
    throw Refusal(std::move(complaints));
  }
}

}  // namespace bindgen
