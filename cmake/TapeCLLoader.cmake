option(TAPECL_BUNDLE_LOADER "Put a copy of the OpenCL loader into Python packages, for systems that have none" OFF)

# tapecl_bundle_loader(TARGET DISTRIBUTION): installs the OpenCL loader beside the libraries that auditwheel puts into a
# wheel of that name, and lets TARGET, a module one folder below the root of the wheel, look there. A loader that the
# process has loaded before wins, for it has the same SONAME: python/ocl/opencl_runtime.py loads the system's first.
function(tapecl_bundle_loader target distribution)
  if(NOT TAPECL_BUNDLE_LOADER)
    return()
  endif()
  file(REAL_PATH ${OpenCL_LIBRARY} loader)
  install(FILES ${loader} DESTINATION ${distribution}.libs RENAME libOpenCL.so.1 COMPONENT python)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/../${distribution}.libs")
endfunction()
