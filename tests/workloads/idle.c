/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle [thread | closed]: takes 25 MB, makes the file "ready", and does nothing more. thread: its main thread ends, another
 * one waits. closed: without any descriptor.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *wait_here(void *unused)
{
	close(open("ready", O_CREAT | O_WRONLY, 0600));
	for (;;)
		pause();
	return unused;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t thread;

	for (int i = 0; i < 250; i++)
		memset(malloc(100000), 1, 100000);
	if (strcmp(how, "closed") == 0)
		closefrom(0);
	if (strcmp(how, "thread") != 0)
		wait_here(NULL);
	if (pthread_create(&thread, NULL, wait_here, NULL) == 0)
		pthread_exit(NULL);
	return 1;
}
