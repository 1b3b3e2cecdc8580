"""The time that OpenCL alone takes to launch a kernel of next to no work: plain calls, no library between."""

import ctypes

SOURCE = b"__kernel void add(__global const float *a, __global float *y) { y[get_global_id(0)] = a[0] + 1; }"
LOCAL, GLOBAL = (ctypes.c_size_t * 1)(1), (ctypes.c_size_t * 1)(1)
ALL_DEVICES = ctypes.c_uint64(0xFFFFFFFF)


def load_opencl():
    library = ctypes.CDLL("libOpenCL.so.1")
    for name in ("clCreateContext", "clCreateCommandQueue", "clCreateProgramWithSource", "clCreateKernel"):
        getattr(library, name).restype = ctypes.c_void_p
    library.clCreateBuffer.restype = ctypes.c_void_p
    return library


def handles(function, *arguments):
    """The list of a clGet…IDs function; nothing where it finds nothing."""
    count = ctypes.c_uint32()
    if function(*arguments, 0, None, ctypes.byref(count)) or not count.value:
        return []
    found = (ctypes.c_void_p * count.value)()
    function(*arguments, count, found, None)
    return list(found)


def checked(code):
    if code:
        raise RuntimeError(f"OpenCL error {code}")


def bare_launch(device_index):
    """A call that enqueues one work item on device `device_index` of all platforms, and does nothing else."""
    cl = load_opencl()
    devices = [
        device
        for platform in handles(cl.clGetPlatformIDs)
        for device in handles(cl.clGetDeviceIDs, ctypes.c_void_p(platform), ALL_DEVICES)
    ]
    device = (ctypes.c_void_p * 1)(devices[device_index])
    code = ctypes.c_int32()

    def made(handle):
        checked(code.value)
        return ctypes.c_void_p(handle)

    context = made(cl.clCreateContext(None, 1, device, None, None, ctypes.byref(code)))
    queue = made(
        cl.clCreateCommandQueue(context, ctypes.c_void_p(device[0]), ctypes.c_uint64(0), ctypes.byref(code))
    )
    text = ctypes.c_char_p(SOURCE)
    program = made(cl.clCreateProgramWithSource(context, 1, ctypes.byref(text), None, ctypes.byref(code)))
    checked(cl.clBuildProgram(program, 1, device, None, None, None))
    kernel = made(cl.clCreateKernel(program, b"add", ctypes.byref(code)))
    for argument in range(2):
        buffer = made(
            cl.clCreateBuffer(context, ctypes.c_uint64(1), ctypes.c_size_t(64), None, ctypes.byref(code))
        )
        checked(cl.clSetKernelArg(kernel, argument, ctypes.c_size_t(8), ctypes.byref(buffer)))
    enqueue = cl.clEnqueueNDRangeKernel
    return lambda: enqueue(queue, kernel, 1, None, GLOBAL, LOCAL, 0, None, None)
