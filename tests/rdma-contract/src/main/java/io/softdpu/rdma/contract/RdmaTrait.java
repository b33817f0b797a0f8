package io.softdpu.rdma.contract;

/**
 * Properties in which providers may differ, and in nothing else. What an environment without one
 * cannot detect at submission it reports at completion; a refused operation has modified no byte in
 * either case.
 */
public enum RdmaTrait {
    /**
     * Memory that its owner has withdrawn is refused at submission, with the owner's status, by
     * which an operation in flight ends as well. Without it the peer refuses it, as any other
     * memory that it has not granted.
     */
    WITHDRAWN_MEMORY_IS_REFUSED_AT_SUBMISSION,
    /**
     * The death of a peer's process is noticed at once, without a timeout, and its memory is
     * refused at submission from then on. Without it, requests and connections end within their
     * periods.
     */
    DEATH_IS_NOTICED_AT_ONCE,
    /** A peer whose process is frozen is slow, and not lost. */
    FROZEN_PEER_IS_SLOW,
    /** A receive that is posted while a message waits for it is used at once, not a retry later. */
    RECEIVE_IS_USED_AT_ONCE,
    /**
     * A short read, write or atomic operation with nothing before it is executed by its submission,
     * not in a later progress. It is completed in progress in either case.
     */
    OPERATION_IS_EXECUTED_AT_SUBMISSION,
    /**
     * A pass of progress executes one slice of a read or write at most, and nothing else executes
     * any, so that each longer one can be looked at half done.
     */
    PROGRESS_EXECUTES_ONE_SLICE,
    /**
     * Each side of a connection by address stays CONNECTING until the program of the other has made
     * progress after the acceptance.
     */
    CONNECTION_IS_ESTABLISHED_BY_BOTH_PROGRAMS
}
