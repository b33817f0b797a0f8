package io.softdpu.storage.workload;

/**
 * Says what to ask for next. One a core and phase, used by that core's thread alone, on the data
 * path: it must neither allocate nor block.
 */
public interface RequestSource {
    /**
     * Fills in the next request.
     *
     * @param transaction which of the transactions will carry it, 0 to the phase's transactions - 1
     * @param request to fill in
     * @return false where there is nothing more to ask for
     */
    boolean next(int transaction, IoRequest request);
}
