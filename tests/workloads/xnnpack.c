/* SPDX-License-Identifier: Apache-2.0 */
/* XNNPACK: one operator, run N times. `xnnpack N` */
#include <stdio.h>
#include <stdlib.h>
#include <xnnpack.h>

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1;
	static float in[1024], out[1024];
	xnn_operator_t sigmoid = NULL;

	if (xnn_initialize(NULL) != xnn_status_success) {
		puts("this processor is not one of XNNPACK's");
		return 77;
	}
	if (xnn_create_sigmoid_nc_f32(32, 32, 32, 0, &sigmoid) != xnn_status_success ||
	    xnn_setup_sigmoid_nc_f32(sigmoid, 16, in, out, NULL) != xnn_status_success)
		return 1;
	for (int i = 0; i < times; i++)
		if (xnn_run_operator(sigmoid, NULL) != xnn_status_success)
			return 1;
	xnn_delete_operator(sigmoid);
	printf("%.2f\n", (double)out[5]);
	return 0;
}
