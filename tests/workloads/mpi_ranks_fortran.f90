! SPDX-License-Identifier: Apache-2.0
! Ranks that communicate by Fortran's bindings: `mpi_ranks_fortran LOG` writes LOG.RANK, as mpi_ranks.c does.
module log
	implicit none
	integer :: calls(2) = 0
contains
	subroutine together(what, comm, name, rank, size, root, sent, received)
		character(len=*) :: what, name
		integer :: comm, rank, size, root, sent, received

		calls(comm) = calls(comm) + 1
		write (10, '(a,1x,a,7(1x,i0))') what, name, rank, size, calls(comm), root, -1, sent, received
	end subroutine

	subroutine message(what, name, rank, size, peer, tag, sent, received)
		character(len=*) :: what, name
		integer :: rank, size, peer, tag, sent, received

		write (10, '(a,1x,a,7(1x,i0))') what, name, rank, size, 0, peer, tag, sent, received
	end subroutine
end module

subroutine by_header(rank, size)
	use log
	implicit none
	include 'mpif.h'
	integer :: rank, size, error, next, before, half, half_rank, half_size, from(64), to(64)
	integer :: requests(2), statuses(MPI_STATUS_SIZE, 2), status(MPI_STATUS_SIZE)
	character(len=4) :: name

	from = 1
	next = mod(rank + 1, size)
	before = mod(rank + size - 1, size)
	call MPI_Barrier(MPI_COMM_WORLD, error)
	call together('barrier', 1, 'world', rank, size, -1, 0, 0)
	call MPI_Irecv(to, 40, MPI_INTEGER, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, requests(1), error)
	call message('recv', 'world', rank, size, -1, 3, 0, 160)
	call MPI_Isend(from, 20, MPI_INTEGER, next, 3, MPI_COMM_WORLD, requests(2), error)
	call message('send', 'world', rank, size, next, 3, 80, 0)
	call MPI_Waitall(2, requests, statuses, error)
	write (10, '(a,3(1x,i0))') 'from', before, 3, 80
	write (10, '(a)') 'done 2'
	call MPI_Sendrecv(from, 21, MPI_INTEGER, next, 4, to, 40, MPI_INTEGER, before, MPI_ANY_TAG, MPI_COMM_WORLD, status, error)
	call message('sendrecv', 'world', rank, size, next, 4, 84, 160)
	write (10, '(a,3(1x,i0))') 'from', before, 4, 84
	call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, error)
	call together('create', 1, 'world', rank, size, -1, 0, 0)
	name = 'even'
	if (mod(rank, 2) == 1) name = 'odd'
	call MPI_Comm_rank(half, half_rank, error)
	call MPI_Comm_size(half, half_size, error)
	call MPI_Allreduce(MPI_IN_PLACE, to, 8, MPI_DOUBLE_PRECISION, MPI_SUM, half, error)
	call together('allreduce', 2, trim(name), half_rank, half_size, -1, 64, 64)
	call MPI_Comm_free(half, error)
	call together('free', 2, trim(name), half_rank, half_size, -1, 0, 0)
end subroutine

subroutine by_module_of_2008(rank, size)
	use mpi_f08
	use log
	implicit none
	integer :: rank, size, next, before, from(64), to(64), i
	type(MPI_Request) :: request
	type(MPI_Status) :: status

	from = 1
	next = mod(rank + 1, size)
	before = mod(rank + size - 1, size)
	call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, to, 5, MPI_INTEGER, MPI_COMM_WORLD)
	call together('allgather', 1, 'world', rank, size, -1, 20, 20 * size)
	call MPI_Bcast(from, 6, MPI_INTEGER, 1, MPI_COMM_WORLD)
	if (rank == 1) then
		call together('bcast', 1, 'world', rank, size, 1, 24, 0)
	else
		call together('bcast', 1, 'world', rank, size, 1, 0, 24)
	end if
	do i = 1, 2
		call MPI_Isend(from, 7, MPI_INTEGER, next, 9, MPI_COMM_WORLD, request)
		call message('send', 'world', rank, size, next, 9, 28, 0)
		call MPI_Recv(to, 9, MPI_INTEGER, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, status)
		call message('recv', 'world', rank, size, -1, 9, 0, 36)
		write (10, '(a,3(1x,i0))') 'from', before, 9, 28
		call MPI_Wait(request, MPI_STATUS_IGNORE)
		write (10, '(a)') 'done 1'
	end do
end subroutine

program mpi_ranks_fortran
	use mpi
	use log
	implicit none
	character(len=1024) :: path
	character(len=8) :: number
	integer :: error, rank, size

	call MPI_Init(error)
	call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
	call MPI_Comm_size(MPI_COMM_WORLD, size, error)
	call get_command_argument(1, path)
	write (number, '(i0)') rank
	open (10, file=trim(path) // '.' // trim(number))
	call message('init', 'world', rank, size, -1, -1, 0, 0)
	call by_header(rank, size)
	call by_module_of_2008(rank, size)
	call together('finalize', 1, 'world', rank, size, -1, 0, 0)
	call MPI_Finalize(error)
	close (10)
end program
