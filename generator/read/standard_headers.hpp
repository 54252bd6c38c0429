// The standard headers that C interfaces include, from memory: only the types that declarations are made of. What the
// machine has installed is made for its own processor and would give the layouts of that one for every target. (clang
// itself brings stddef.h, stdint.h, stdbool.h, stdarg.h and limits.h, for each target.)
#pragma once

#include <array>

namespace bindgen {

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
