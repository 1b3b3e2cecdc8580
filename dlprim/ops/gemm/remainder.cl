// a % b, written so that it shares the division a / b beside it. (Left to itself LLVM does the same through a
// `freeze` instruction, which Oclgrind's check for uninitialised values does not know.)
#define REMAINDER(a, b) ((a) - (a) / (b) * (b))
