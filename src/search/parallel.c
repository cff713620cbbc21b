#include "search/parallel.h"

#include <omp.h>

void parallel_each(const struct parallel *work, size_t count, int jobs)
{
	int threads = count < (size_t)jobs ? (int)count : jobs;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
	for (size_t i = 0; i < count; i++) {
		work->run(work->context, i, omp_get_thread_num());
#pragma omp critical
		work->done(work->context, i);
	}
}
