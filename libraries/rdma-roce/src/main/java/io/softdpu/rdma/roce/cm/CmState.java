package io.softdpu.rdma.roce.cm;

/**
 * State of a connection, as connection management sees it (InfiniBand Architecture Specification,
 * volume 1, section 12.9.7, without the states of MRA, LAP and SIDR).
 */
public enum CmState {
    /** This end has a key; its program has not connected it to a peer's key. */
    EXPORTED,
    /** Its program has connected it to a peer's key, and the peer sends the REQ. */
    AWAITING_REQ,
    /** This end has sent a REQ and repeats it until there is an answer. */
    REQ_SENT,
    /** A peer requests a connection, and the program has not answered. */
    REQ_RECEIVED,
    /** A request was rejected; its repeats are answered by the same REJ. */
    REJECTED,
    /** A request was accepted: the REP is repeated until the RTU or another packet comes. */
    REP_SENT,
    /** Both ends may use it. */
    ESTABLISHED,
    /** This end has ended it, and repeats the DREQ until there is an answer. */
    DREQ_SENT,
    /** It has ended, and keeps its number from a successor until late packets are gone. */
    TIMEWAIT,
    /** It has ended, and nothing is kept of it. */
    CLOSED
}
