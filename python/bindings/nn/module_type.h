#pragma once

#include "../python_class.h"

/** \file What makes of a bound class of modules a class that Python derives from as from one of its own. */

/** Gives objects a __dict__ and room for one C++ half, whatever their class is derived from, refuses those of
 * abstract classes, lets their class be another of the same half, and the collector follow. For every class
 * of modules. */
void set_up_module(PyHeapTypeObject* type);
