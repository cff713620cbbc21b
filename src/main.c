#include <stdio.h>

int main(void)
{
	puts("lxplore " LXPLORE_VERSION);
	return 0;
}
