#pragma once

#include "hooks.h"
#include "module_class.h"

/** \file The class Module itself, whose methods stand in module_*.cpp and hooks.cpp. */

using ModuleBinding = py::class_<Module, PythonModule<Module>, py::smart_holder>;

void bind_walks(ModuleBinding& module);
void bind_modes(ModuleBinding& module);
void bind_state(ModuleBinding& module);
