#pragma once

#include "module_class.h"

/** \file Hooks of Python's around state dicts, which C++ calls (hooks.cpp registers them). */

py::dict python_state(const ocl::StateDict& state);
/** The IncompatibleKeys of Python (ocl/nn/entries.py), with lists that hooks may change. */
py::object python_keys(const IncompatibleKeys& keys);

void run_state_dict_pre_hooks(const Module& module, const std::string& prefix, bool keep_vars);
void run_state_dict_hooks(const Module& module, ocl::StateDict& state, const std::string& prefix);
void run_load_pre_hooks(Module& module, ocl::StateDict& state, const std::string& prefix, LoadReport& report);
void run_load_post_hooks(Module& module, IncompatibleKeys& keys);
