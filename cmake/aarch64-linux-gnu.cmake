# Builds for 64-bit Arm on another machine; ctest runs the results in qemu. The
# environment variable QEMU_CPU chooses the processor, such as max,sve-max-vq=2
# for SVE of 2 * 128 bits.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR
    qemu-aarch64;-L;/usr/aarch64-linux-gnu)
