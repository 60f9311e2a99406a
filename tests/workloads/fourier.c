/* SPDX-License-Identifier: Apache-2.0 */
/* FFTW: a plan in each of two precisions, executed N times. `fourier N` */
#include <fftw3.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1, n = 64;
	fftw_complex *data = fftw_malloc(sizeof(*data) * 64);
	fftwf_complex *single = fftwf_malloc(sizeof(*single) * 64);
	fftw_plan plan = fftw_plan_dft_1d(n, data, data, FFTW_FORWARD, FFTW_ESTIMATE);
	fftwf_plan single_plan = fftwf_plan_dft_2d(8, 8, single, single, FFTW_FORWARD, FFTW_ESTIMATE);

	for (int i = 0; i < n; i++) {
		data[i][0] = i;
		data[i][1] = 0;
		single[i][0] = single[i][1] = 1;
	}
	for (int i = 0; i < times; i++)
		fftw_execute(plan);
	fftwf_execute(single_plan);
	printf("%.3f %.3f\n", data[0][0] > 0 ? 1.0 : 0.0, (double)single[0][0]);
	fftw_destroy_plan(plan);
	fftwf_destroy_plan(single_plan);
	return 0;
}
