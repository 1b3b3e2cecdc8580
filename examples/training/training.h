#pragma once

#include "options.h"

/** Trains, tests, and leaves everything in options.output: model.safetensors for predict, log.csv, curves.png
 * and the checkpoints. Throws what its parts throw. */
void run_training(const TrainingOptions& options);
