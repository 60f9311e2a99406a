/* SPDX-License-Identifier: Apache-2.0 */
/* XNNPACK: one operator, run N times. `xnnpack N` */
#include <stdio.h>
#include <stdlib.h>
#include <xnnpack.h>

/* Of 16 rows of 32. Since the versions of 2023 sizes are told between creation and set-up. */
static int make(const float *in, float *out, xnn_operator_t *softmax)
{
#ifdef XNN_FLAG_KEEP_DIMS
	return xnn_create_softmax_nc_f32(0, softmax) == xnn_status_success &&
	       xnn_reshape_softmax_nc_f32(*softmax, 32, 32, 32, 16, NULL) == xnn_status_success &&
	       xnn_setup_softmax_nc_f32(*softmax, in, out) == xnn_status_success;
#else
	return xnn_create_softmax_nc_f32(32, 32, 32, 0, softmax) == xnn_status_success &&
	       xnn_setup_softmax_nc_f32(*softmax, 16, in, out, NULL) == xnn_status_success;
#endif
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1;
	static float in[1024], out[1024];
	xnn_operator_t softmax = NULL;

	if (xnn_initialize(NULL) != xnn_status_success) {
		puts("this processor is not one of XNNPACK's");
		return 77;
	}
	if (!make(in, out, &softmax))
		return 1;
	for (int i = 0; i < times; i++)
		if (xnn_run_operator(softmax, NULL) != xnn_status_success)
			return 1;
	xnn_delete_operator(softmax);
	printf("%.2f\n", (double)out[5]);
	return 0;
}
