#include "read/system_headers.hpp"

#include "read/parse.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace bindgen {
namespace {

constexpr std::string_view kSysroot = "--sysroot=";

// Names by which headers are included, and which are in different folders.
const std::vector<std::string>& probes(Language language) {
  static const std::vector<std::string> kC = {"bits/wordsize.h", "stdlib.h", "sys/types.h"};
  static const std::vector<std::string> kCpp = {"cstdlib", "bits/c++config.h", "bits/wordsize.h", "stdlib.h",
                                                "sys/types.h"};
  return language == Language::kC ? kC : kCpp;
}

clang::Unit include_probes(const clang::Index& index, Language language, std::vector<std::string> options) {
  std::string text;
  for (const std::string& name : probes(language)) text += "#include <" + name + ">\n";
  const bool is_cpp = language == Language::kCpp;
  options.insert(options.end(), {"-x", "c++", is_cpp ? "-std=c++20" : "-std=c++17"});
  if (!is_cpp) options.emplace_back("-nostdinc++");
  return run_clang(index, "./headers_of_the_system.cpp", options, {{"./headers_of_the_system.cpp", text}});
}

// The folders in which the probes were found, in the order of the probes.
std::vector<std::string> folders_of(const clang::Unit& unit, Language language) {
  std::vector<std::string> included;
  clang_getInclusions(
      unit.get(),
      [](CXFile file, CXSourceLocation*, unsigned, CXClientData data) {
        static_cast<std::vector<std::string>*>(data)->push_back(clang::text(clang_getFileName(file)));
      },
      &included);
  std::vector<std::string> folders;
  for (const std::string& probe : probes(language)) {
    for (const std::string& path : included) {
      const std::string end = "/" + probe;
      if (path.size() <= end.size() || path.compare(path.size() - end.size(), end.size(), end) != 0) continue;
      const std::string folder = path.substr(0, path.size() - end.size());
      bool is_new = true;
      for (const std::string& known : folders) is_new = is_new && known != folder;
      if (is_new) folders.push_back(folder);
    }
  }
  return folders;
}

// "arm" of "armv7-unknown-linux-gnueabihf" and of "arm-linux-gnueabihf".
std::string architecture_of(const std::string& triple) {
  const std::string name = triple.substr(0, triple.find('-'));
  return name.starts_with("armv") ? std::string("arm") : name;
}

// Of the user's options those that say where headers are. Others (-D, -include) are about one header.
std::vector<std::string> options_of_place(const std::vector<std::string>& options) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const bool is_alone = options[i] == "--sysroot" || options[i] == "-isysroot";
    if (is_alone && i + 1 < options.size()) found.push_back("--sysroot=" + options[i + 1]);
    if (options[i].starts_with(kSysroot) || options[i].starts_with("--gcc-toolchain=")) found.push_back(options[i]);
  }
  return found;
}

}  // namespace

SysrootFolders folders_of_sysroot(const std::string& target, const std::vector<std::string>& options) {
  std::filesystem::path root;
  for (const std::string& option : options_of_place(options)) {
    if (option.starts_with(kSysroot)) root = option.substr(kSysroot.size());  // the last one counts
  }
  SysrootFolders found;
  if (root.empty()) return found;
  std::error_code error;
  const std::filesystem::path folder = root / "usr/include";
  for (std::filesystem::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
    const std::string name = each->path().filename().string();
    if (name.find("-linux-") == std::string::npos || !std::filesystem::is_directory(each->path(), error)) continue;
    auto& folders = architecture_of(name) == architecture_of(target) ? found.own : found.foreign;
    folders.push_back(each->path().string());
  }
  std::sort(found.own.begin(), found.own.end());
  std::sort(found.foreign.begin(), found.foreign.end());
  found.own.push_back(folder.string());
  return found;
}

std::optional<SystemHeaders> own_headers(const std::string& target, Language language,
                                         const std::vector<std::string>& options) {
  const clang::Index index(clang_createIndex(0, 0));
  std::vector<std::string> all = options_of_place(options);
  all.push_back("--target=" + target);
  const clang::Unit unit = include_probes(index, language, all);
  if (!errors_of(unit).empty()) return std::nullopt;
  return SystemHeaders{};
}

bool is_this_machine(const std::string& target) {
  static const std::string kOwn = [] {
    const clang::Index index(clang_createIndex(0, 0));
    const clang::Unit unit = run_clang(index, "./machine.cpp", {"-x", "c++"}, {{"./machine.cpp", "int a;\n"}});
    CXTargetInfo info = clang_getTranslationUnitTargetInfo(unit.get());
    std::string triple = clang::text(clang_TargetInfo_getTriple(info));
    clang_TargetInfo_dispose(info);
    return triple;
  }();
  return architecture_of(kOwn) == architecture_of(target);
}

const std::vector<std::string>& folders_of_this_machine() {
  static const std::vector<std::string> kFolders = [] {
    const clang::Index index(clang_createIndex(0, 0));
    return folders_of(include_probes(index, Language::kC, {}), Language::kC);
  }();
  return kFolders;
}

std::optional<SystemHeaders> borrowed_headers(Language language) {
  const clang::Index index(clang_createIndex(0, 0));
  const clang::Unit unit = include_probes(index, language, {});
  if (!errors_of(unit).empty()) return std::nullopt;
  // What glibc's headers ask to know the width of pointers, answered for every processor instead of for theirs.
  auto stand_ins = std::make_shared<TemporaryFolder>();
  stand_ins->write("bits/wordsize.h",
                   "#define __WORDSIZE (__SIZEOF_POINTER__ * 8)\n"
                   "#define __WORDSIZE_TIME64_COMPAT32 0\n#define __SYSCALL_WORDSIZE __WORDSIZE\n");
  // x86's has types that clang has for x86 only; without them, as glibc's own for a processor that has none of them.
  stand_ins->write("bits/floatn.h",
                   "#define __HAVE_FLOAT128 0\n#define __HAVE_DISTINCT_FLOAT128 0\n#define __HAVE_FLOAT64X 0\n"
                   "#define __HAVE_FLOAT64X_LONG_DOUBLE 0\n#include <bits/floatn-common.h>\n");
  for (const char* name : {"gnu/stubs-32.h", "gnu/stubs-64.h", "gnu/stubs-soft.h", "gnu/stubs-hard.h"}) {
    stand_ins->write(name, "");
  }
  SystemHeaders found{{"-nostdinc++", "-nostdlibinc", "-isystem", stand_ins->path().string()}, true, stand_ins};
  for (const std::string& folder : folders_of(unit, language)) {
    found.options.insert(found.options.end(), {"-isystem", folder});
  }
  return found;
}

const std::optional<SystemHeaders>& system_headers(const std::string& target, Language language,
                                                   const std::vector<std::string>& options) {
  using Key = std::tuple<std::string, Language, std::vector<std::string>>;
  // Asking a compiler takes a while, and its answer does not change while this program runs. One thread.
  static std::map<Key, std::optional<SystemHeaders>> known;
  const auto [found, is_new] = known.try_emplace({target, language, options});
  if (is_new) {
    found->second = own_headers(target, language, options);
    if (!found->second) found->second = borrowed_headers(language);
  }
  return found->second;
}

}  // namespace bindgen
