# A test waits for events, and not for time to pass: what passes on a quick machine fails on a busy one, and all of it
# takes as long as its waits. Where time is the subject, a test has a clock of its own (tests/simulation/sim_bench.hpp);
# that something does not come is shown by what comes after it. Run: cmake -DROOT=<repository> -P fixed_waits.cmake;
# fails naming every mistake. Not for tests/load: these programs sleep to pace themselves.
cmake_minimum_required(VERSION 3.22)

# Why each of these has to.
set(listed
  tests/runtime/watched_loop_test.cpp                # that a wait is not counted needs one
  tests/runtime/transport/bytes/tls_stream_test.cpp  # OpenSSL at the other end, on a thread and a clock of its own
  tests/server/e2e/lifecycle_test.cpp                # of another process: that it does nothing is seen over a time
  tests/server/upstreams/command_connection_test.cpp # has a command that does not end
  tests/server/upstreams/upstream_link_test.cpp      # threads that go by the system's clock
  tests/support/eventually.hpp                       # between two looks for what nothing tells of
  tests/support/raw_socket.cpp                       # is what is listed here
  tests/support/raw_socket.hpp)                      # the same

file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/tests/*.?pp ${ROOT}/tests/*.c ${ROOT}/tests/*.h ${ROOT}/tests/*.py
     ${ROOT}/tests/*.sh)
list(FILTER files EXCLUDE REGEX "^tests/(layers|load)/")
set(wrong "")
foreach(file IN LISTS files)
  file(STRINGS ${ROOT}/${file} lines
       REGEX "(^|[^a-z_])((sleep_for|sleep_until|sleep|usleep|nanosleep|run_for|is_silent_for|steady_timer [a-z_]+)\\(|CHECK_FALSE\\(.*happens_within\\([1-9]|(^|do|then|else)[ \t]*sleep [0-9.$\"])")
  if(lines AND NOT file IN_LIST listed)
    string(APPEND wrong "${file}: waits for a time to pass: which event is it that it waits for?\n")
  endif()
  if(NOT lines AND file IN_LIST listed)
    string(APPEND wrong "${file}: is listed, and waits for no time any more\n")
  endif()
endforeach()
if(wrong)
  message("${wrong}")
  message(FATAL_ERROR "tests wait for time to pass, see above")
endif()
