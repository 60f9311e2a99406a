! SPDX-License-Identifier: Apache-2.0
! Communicates with itself N times by each of Fortran's three bindings: mpi_fortran N.
subroutine by_header(times)
	implicit none
	include 'mpif.h'
	integer :: times, i, error, request, from(4), to(4)
	integer :: status(MPI_STATUS_SIZE)

	from = 1
	do i = 1, times
		call MPI_Irecv(to, 4, MPI_INTEGER, 0, 1, MPI_COMM_SELF, request, error)
		call MPI_Send(from, 4, MPI_INTEGER, 0, 1, MPI_COMM_SELF, error)
		call MPI_Wait(request, status, error)
	end do
end subroutine

subroutine by_module(times)
	use mpi
	implicit none
	integer :: times, i, error, from(4), to(4)

	from = 1
	do i = 1, times
		call MPI_Barrier(MPI_COMM_SELF, error)
		call MPI_Exscan(from, to, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, error)
	end do
end subroutine

subroutine by_module_of_2008(times)
	use mpi_f08
	implicit none
	integer :: times, i, from(4), to(4)

	from = 1
	do i = 1, times
		call MPI_Allreduce(from, to, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF)
	end do
end subroutine

program mpi_fortran
	use mpi
	implicit none
	character(len=16) :: argument
	integer :: times, error, rank

	call get_command_argument(1, argument)
	read (argument, *) times
	call MPI_Init(error)
	call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
	call by_header(times)
	call by_module(times)
	call by_module_of_2008(times)
	call MPI_Finalize(error)
	print *, rank
end program
