/* SPDX-License-Identifier: Apache-2.0 */
/* The same function of MPI under the names that Fortran's compilers give it; each calls the C function, as MPICH's do. */
#define FORTRAN_NAMES(DO)                                                                                              \
	DO(mpi_send)                                                                                                   \
	DO(mpi_send_)                                                                                                  \
	DO(mpi_send__)                                                                                                 \
	DO(MPI_SEND)                                                                                                   \
	DO(MPI_SEND_)                                                                                                  \
	DO(mpi_send_f08_) DO(mpi_send_f08ts_) DO(mpi_send_f08ts_large_) DO(MPI_Send_f08) DO(MPI_Send_f) DO(MPI_Send_fts)

/* No communication: of C and of Fortran. */
#define OTHER_NAMES(DO)                                                                                                \
	DO(MPI_Type_commit)                                                                                            \
	DO(mpi_type_commit_)                                                                                           \
	DO(MPI_Comm_size)                                                                                              \
	DO(mpi_comm_rank_)                                                                                             \
	DO(MPI_Get_count) DO(mpi_get_address_) DO(mpi_win_create_keyval_) DO(MPI_Op_create) DO(mpi_wtime_)

int MPI_Send(const void *buffer);
int MPI_Send_c(const void *buffer);
#define DECLARE(name) int name(const void *buffer);
FORTRAN_NAMES(DECLARE)
OTHER_NAMES(DECLARE)
