# Boards that run 32-bit systems, from Debian's g++-arm-linux-gnueabihf. Tests run under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-linux-gnueabihf-gcc)
set(CMAKE_CXX_COMPILER arm-linux-gnueabihf-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-arm -L /usr/arm-linux-gnueabihf)
# Else GCC 7 and later note, at each function that takes certain structs, that these are passed in another way now.
add_compile_options(-Wno-psabi)
