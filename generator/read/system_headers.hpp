// Where a target's headers of C and C++ are: where clang finds them for a cross compiler that is installed, else those
// of this machine, borrowed.
#pragma once

#include "files.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bindgen {

enum class Language { kC, kCpp };

struct SystemHeaders {
  std::vector<std::string> options;  // for clang, to find them; none if it does so by itself
  // Whether they are this machine's headers, whose structs may have another layout than those of the target's headers.
  bool are_borrowed = false;
  std::shared_ptr<const TemporaryFolder> stand_ins =
      {};  // what borrowed ones need besides; shared by the copies of this
};

// As clang finds them for the target, with these options besides; none if it does not.
std::optional<SystemHeaders> own_headers(const std::string& target, Language language,
                                         const std::vector<std::string>& options = {});
// Where libraries of the system that --sysroot or -isysroot names have their headers. None without such an option.
struct SysrootFolders {
  std::vector<std::string> own{};      // for the target, and for all
  std::vector<std::string> foreign{};  // for other processors
};
SysrootFolders folders_of_sysroot(const std::string& target, const std::vector<std::string>& options);
// Whether this machine is one of those that the target is for.
bool is_this_machine(const std::string& target);
// The folders of this machine's own headers of C, those first that are for its processor alone.
const std::vector<std::string>& folders_of_this_machine();
// Those of this machine, for another target; none if it has none.
std::optional<SystemHeaders> borrowed_headers(Language language);
// The headers of a target: its own, or else this machine's, borrowed; none if there are neither. Looked for once for
// each set of arguments, and kept. For one thread.
const std::optional<SystemHeaders>& system_headers(const std::string& target, Language language,
                                                   const std::vector<std::string>& options = {});

// The standard headers that C interfaces include, from memory: only the types that declarations are made of. What the
// machine has installed is made for its own processor and would give the layouts of that one for every target. (clang
// itself brings stddef.h, stdint.h, stdbool.h, stdarg.h and limits.h, for each target.)
struct StandardHeader {
  const char* name;
  const char* text;
};

// The types are those of Linux: `long` follows the target. On 32-bit ARM that gives time_t 32 bits, its classic size.
inline constexpr std::array<StandardHeader, 14> kStandardHeaders = {{
    {"cstdint", "#include <stdint.h>\n"},
    {"cstddef", "#include <stddef.h>\n"},
    {"cstdbool", "#include <stdbool.h>\n"},
    {"climits", "#include <limits.h>\n"},
    {"assert.h", ""},
    {"errno.h", ""},
    {"inttypes.h", "#include <stdint.h>\n"},
    {"stdio.h", "#pragma once\n#include <stddef.h>\ntypedef struct _IO_FILE FILE;\n"},
    {"stdlib.h", "#include <stddef.h>\n"},
    {"string.h", "#include <stddef.h>\n"},
    {"sys/time.h", "#pragma once\n#include <sys/types.h>\nstruct timeval { time_t tv_sec; long tv_usec; };\n"},
    {"sys/types.h",
     "#pragma once\n#include <stddef.h>\ntypedef long ssize_t;\ntypedef long off_t;\ntypedef long time_t;\n"
     "typedef int pid_t;\ntypedef unsigned int uid_t;\ntypedef unsigned int gid_t;\ntypedef unsigned int mode_t;\n"},
    {"time.h", "#pragma once\n#include <sys/types.h>\nstruct timespec { time_t tv_sec; long tv_nsec; };\n"},
    {"unistd.h", "#include <sys/types.h>\n"},
}};

}  // namespace bindgen
