# Every dependency is a distribution package. What is missing is named together with the command that mends it.

function(rkllm_mcp_require found name version package)
  if(NOT ${found})
    message(FATAL_ERROR "${name} (${version} or newer) was not found. Install it: apt-get install ${package}")
  endif()
endfunction()

find_package(Threads REQUIRED)

find_package(nlohmann_json 3.10 QUIET)
rkllm_mcp_require(nlohmann_json_FOUND nlohmann_json 3.10 nlohmann-json3-dev)

if(NOT RKLLM_MCP_SERVER)
  return()  # the bindings and the simulator need no more
endif()

find_package(PkgConfig QUIET)
rkllm_mcp_require(PKG_CONFIG_FOUND pkg-config 0.29 pkg-config)

# 1.18 (Ubuntu 22.04) is the oldest supported.
list(APPEND CMAKE_MODULE_PATH ${PROJECT_SOURCE_DIR}/cmake)
find_package(Asio 1.18 QUIET)
rkllm_mcp_require(Asio_FOUND asio 1.18 libasio-dev)

find_package(OpenSSL 1.1.1 QUIET)
rkllm_mcp_require(OPENSSL_FOUND OpenSSL 1.1.1 libssl-dev)

find_package(CLI11 2.1 QUIET)
rkllm_mcp_require(CLI11_FOUND CLI11 2.1 libcli11-dev)

find_package(spdlog 1.9 QUIET)
rkllm_mcp_require(spdlog_FOUND spdlog 1.9 libspdlog-dev)

find_package(SQLite3 3.37 QUIET)  # 3.37: Ubuntu 22.04
rkllm_mcp_require(SQLite3_FOUND SQLite3 3.37 libsqlite3-dev)

# Only its header: the library is loaded when it is asked for. Debian puts the header in a folder that pkg-config knows.
pkg_check_modules(LIBPQ QUIET libpq>=14)  # 14: Ubuntu 22.04
rkllm_mcp_require(LIBPQ_FOUND libpq 14 libpq-dev)

# In Debian and Ubuntu cpp-httplib is a compiled library whose ABI depends on defines that only pkg-config knows. On
# Debian 13 its .pc file forgets OpenSSL's libcrypto, so OpenSSL is named as well.
pkg_check_modules(CPP_HTTPLIB QUIET IMPORTED_TARGET cpp-httplib)
rkllm_mcp_require(CPP_HTTPLIB_FOUND cpp-httplib 0.10 libcpp-httplib-dev)
add_library(cpp_httplib INTERFACE)
target_link_libraries(cpp_httplib INTERFACE PkgConfig::CPP_HTTPLIB OpenSSL::SSL OpenSSL::Crypto)

# Lines that people type. Ubuntu 22.04 has 3.1.
pkg_check_modules(LIBEDIT QUIET IMPORTED_TARGET libedit)
rkllm_mcp_require(LIBEDIT_FOUND libedit 3.1 libedit-dev)

# Reads the pages of the web. Its .pc file is all that there is: the library brings nothing for CMake.
pkg_check_modules(GUMBO QUIET IMPORTED_TARGET gumbo)
rkllm_mcp_require(GUMBO_FOUND gumbo 0.10 libgumbo-dev)

# The expressions by which tokenizers divide texts, and Unicode's normal forms.
pkg_check_modules(PCRE2 QUIET IMPORTED_TARGET libpcre2-8)
rkllm_mcp_require(PCRE2_FOUND libpcre2-8 10.39 libpcre2-dev)
pkg_check_modules(UTF8PROC QUIET IMPORTED_TARGET libutf8proc)
rkllm_mcp_require(UTF8PROC_FOUND libutf8proc 2.7 libutf8proc-dev)

# In which language somebody writes.
find_package(Cld2 QUIET)
rkllm_mcp_require(Cld2_FOUND cld2 0.0.0 libcld2-dev)
