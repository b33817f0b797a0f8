package io.softdpu.storage.workload;

/**
 * Source of requests, one per worker and phase, used by that worker's thread only, on the data
 * path: it must neither allocate nor block.
 */
public interface RequestSource {
    /**
     * Fills in the next request.
     *
     * @param transaction index of the transaction, 0 to the phase's transactions - 1
     * @param request to fill in
     * @return false if there is no further request
     */
    boolean next(int transaction, IoRequest request);
}
