# cpack -G DEB --config build/release/CPackConfig.cmake: libtapecl-dev, the C++ library to build programs with.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME libtapecl-dev)
set(CPACK_PACKAGE_CONTACT "TapeCL maintainers <maintainers@tapecl.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}: headers, static libraries, CMake package")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
# Programs link the library statically, so they need what it links to and what its headers include.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "ocl-icd-opencl-dev | ocl-icd-dev, opencl-clhpp-headers, libclblast-dev, libsqlite3-dev, zlib1g-dev, nlohmann-json3-dev")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "pocl-opencl-icd | opencl-icd")
include(CPack)
