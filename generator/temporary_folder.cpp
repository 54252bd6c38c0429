#include "temporary_folder.hpp"

#include "diagnostics.hpp"
#include "staged_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace bindgen {

TemporaryFolder::TemporaryFolder() {
  std::error_code none;
  std::filesystem::path temporary = std::filesystem::temp_directory_path(none);
  if (none) temporary = "/tmp";
  std::string name = (temporary / "rkllm-bindgen-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw Refusal({temporary.string(), 0, 0}, std::string("no folder can be made here: ") + std::strerror(errno));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void TemporaryFolder::write(const std::string& name, const std::string& text) const {
  StagedFile(path_ / name, text).put_in_place();
}

}  // namespace bindgen
