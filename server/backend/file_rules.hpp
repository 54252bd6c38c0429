// Which files clients may have read and written: models, adapters and caches, by the settings runtime.model_dirs and
// runtime.cache_dir.
//
// Read: anything that this process may read, or, if there are model directories, only what is below one of them or
// below the cache directory. A relative path is looked for in the model directories, then in the cache directory;
// without model directories, also in the working directory. Written: only below the cache directory, which relative
// paths start from. Links are followed before anything is decided. Nobody but the owner of this process is meant to be
// able to change what stands below these directories: between the check and the library's use of a path others could.
#pragma once

#include <rkllm_mcp/file_policy.hpp>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace rkllm_mcp {

class FileRules final : public FilePolicy {
 public:
  struct Directories {
    std::vector<std::string> models;
    std::string cache;  // empty: the usual place, see usual_cache_directory()
    std::uint64_t cache_bytes = std::numeric_limits<std::uint64_t>::max();  // what the files below it may take together
  };

  explicit FileRules(const Directories& directories);

  std::string path_for(const std::string& given, FileUse use) const override;

  const std::filesystem::path& cache_directory() const { return cache_; }
  std::uint64_t cache_bytes() const { return cache_bytes_; }

  // $CACHE_DIRECTORY (as systemd sets it), else rkllm-mcp below $XDG_CACHE_HOME or ~/.cache; empty if none is known.
  static std::string usual_cache_directory();

 private:
  using Path = std::filesystem::path;

  std::string to_read(const Path& given) const;
  std::string to_write(const Path& given) const;
  Path find(const Path& relative) const;

  std::vector<Path> models_;
  Path cache_;
  std::uint64_t cache_bytes_;
};

// Identifies the file that the library would read for this path, so that it can be seen later whether it is still that
// file with that content: its path with links resolved, device, inode number, size, and time of last change (ctime).
// Empty if there is no such file, or if it changed within the present tick of the kernel's clock, since another change
// could get the same time. Reads the disk; any thread.
std::string file_identity(const FileRules& rules, const std::string& path);

}  // namespace rkllm_mcp
