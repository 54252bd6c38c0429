#include "manifest.hpp"

#include "bindgen_json.hpp"
#include "diagnostics.hpp"
#include "files.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace bindgen {
namespace {

namespace fs = std::filesystem;

class Reader {
 public:
  explicit Reader(fs::path path) : path_(std::move(path)) {}

  Manifest read() const {
    const Json json = parsed();
    if (!json.is_object()) refuse("", "expected an object");
    Manifest manifest;
    each(json, "files", [&](const std::string& at, const Json& entry) { manifest.files.push_back(file(at, entry)); });
    each(json, "sets", [&](const std::string& at, const Json& set) {
      if (!set.is_object()) refuse(at, "expected an object");
      manifest.versions.push_back(text(at, set, "version"));
    });
    return manifest;
  }

 private:
  Json parsed() const {
    const std::string text = read_text(path_);
    try {
      return Json::parse(text);
    } catch (const Json::parse_error& error) {
      const std::string before = text.substr(0, error.byte == 0 ? 0 : error.byte - 1);
      const auto line = std::count(before.begin(), before.end(), '\n') + 1;
      const auto column = before.size() - (before.find_last_of('\n') + 1) + 1;  // npos + 1 is 0
      throw Refusal({path_.string(), static_cast<unsigned>(line), static_cast<unsigned>(column)},
                    "this is not JSON, so what was generated here before is not known", "", kWayOut);
    }
  }

  template <class Visit>
  void each(const Json& json, const char* member, const Visit& visit) const {
    const auto found = json.find(member);
    if (found == json.end()) return;
    if (!found->is_array()) refuse(member, "expected an array");
    for (std::size_t i = 0; i < found->size(); ++i) visit(member + ("[" + std::to_string(i) + "]"), (*found)[i]);
  }

  Manifest::Entry file(const std::string& at, const Json& entry) const {
    Manifest::Entry file;
    if (entry.is_string()) {
      file.path = entry.get<std::string>();
    } else if (entry.is_object()) {
      file = {text(at, entry, "path"), text(at, entry, "sha256")};
    } else {
      refuse(at, "expected an object with path and sha256");
    }
    const fs::path path(file.path);
    const bool is_inside = !file.path.empty() && path.is_relative() &&
                           file.path == path.lexically_normal().generic_string() && *path.begin() != ".." &&
                           *path.begin() != "." && path.has_filename() && file.path.find('\0') == std::string::npos;
    if (!is_inside) refuse(at, "the path " + Json(file.path).dump(-1, ' ', true) + " does not lie inside this folder");
    return file;
  }

  std::string text(const std::string& at, const Json& object, const char* member) const {
    const auto found = object.find(member);
    if (found == object.end() || !found->is_string()) refuse(at + "." + member, "expected a string");
    return found->get<std::string>();
  }

  [[noreturn]] void refuse(const std::string& at, const std::string& message) const {
    throw Refusal({path_.string(), 0, 0}, at.empty() ? message : at + ": " + message, "", kWayOut);
  }

  static constexpr const char* kWayOut =
      "take back the file that was committed; or remove it, and with it the files that are not generated any more";

  const fs::path path_;
};

}  // namespace

const Manifest::Entry* Manifest::find(const std::string& path) const {
  const auto found = std::find_if(files.begin(), files.end(), [&](const Entry& entry) { return entry.path == path; });
  return found == files.end() ? nullptr : &*found;
}

Manifest read_manifest(const fs::path& folder) {
  const fs::path path = folder / kManifestName;
  return fs::exists(path) ? Reader(path).read() : Manifest();
}

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("SHA-256 is not available");
  }
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    text += kHex[digest[i] >> 4U];
    text += kHex[digest[i] & 15U];
  }
  return text;
}

}  // namespace bindgen
