#ifndef SUPPORT_BUFFERS_H
#define SUPPORT_BUFFERS_H

#include "model/packing/buffer.h"

/* Buffers in tables; a child may take over the bytes of its parent, given by its number. */
#define BUFFER(size_, start_, end_)                                                                \
	{                                                                                          \
		.size = size_, .start = start_, .end = end_                                        \
	}
#define CHILD(size_, start_, end_, parent_)                                                        \
	{                                                                                          \
		.size = size_, .start = start_, .end = end_, .parent_count = 1,                    \
		.parents = (const int[])                                                           \
		{                                                                                  \
			parent_                                                                    \
		}                                                                                  \
	}

#endif
