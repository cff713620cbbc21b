#ifndef PLACE_OPTIONS_H
#define PLACE_OPTIONS_H

#include "base/tuning.h" /* tables of constants */

#endif
