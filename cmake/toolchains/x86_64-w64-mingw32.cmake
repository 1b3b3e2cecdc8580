# 64-bit Windows by Debian's MinGW, whose POSIX variant has C++'s threads. TAPECL_SYSROOT names the folder with the
# headers and libraries of the target, as tools/cross/windows makes one.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_FIND_ROOT_PATH ${TAPECL_SYSROOT})
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TAPECL_SYSROOT)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Object files of sources that are compiled together have more sections than the old format counts.
set(CMAKE_CXX_FLAGS_INIT "-Wa,-mbig-obj")
# Programs then need no library of the compiler's beside them.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static)
# Windows 10
add_compile_definitions(_WIN32_WINNT=0x0A00)
