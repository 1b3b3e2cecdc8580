#pragma once

#include <filesystem>
#include <string>

#include "dlprim/export/exported_program.h"

namespace dlprim {

class Device;

/**
 * Writes a program to a file of the format .ocl, which is a safetensors file. Its tensors are the constants,
 * and the states before the first run. Its metadata hold the calls as JSON ("tapecl_program") and the version
 * of the format ("tapecl_format"). A program of given shapes has version 1. A dynamic one has version 2:
 * its symbols, and texts of formulas (SizeFormula) in the places of numbers. Binaries are tensors too, and
 * "tapecl_binaries" says whose they are; readers that do not know them ignore them. The file is there as a
 * whole or not at all. Throws FileError.
 */
void save_program(const ExportedProgram& program, const std::filesystem::path& path);

/** Reads it for that device. Throws FileError, which names the file and the place, for a file that is
 * damaged, is no program, has a version that is newer, or whose calls do not fit (check_program). */
ExportedProgram load_program(const std::filesystem::path& path, Device& device);

}  // namespace dlprim
