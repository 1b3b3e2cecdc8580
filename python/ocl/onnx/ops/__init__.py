"""One file a family of ONNX operators, each made of ocl's operators; `ocl.onnx.table` says how."""
