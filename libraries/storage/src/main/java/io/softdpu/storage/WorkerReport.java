package io.softdpu.storage;

/**
 * Report of a data path thread.
 *
 * @param core its index, counted from 0
 * @param cpu what it was bound to
 * @param operations reads and writes that came to their end here, failed ones included
 * @param errors those of them that failed
 * @param progressHits rounds of its progress engine that found work, data path only
 * @param progressMisses rounds that found none, data path only
 * @param payloadBytesCopied bytes of the volume's data that its engine copied
 * @param messageBytesCopied bytes of messages that its engine copied
 * @param allocatedBytes heap that its thread allocated while in the data path
 * @param dataPathNanos how long it was in the data path
 */
public record WorkerReport(
        int core,
        String cpu,
        long operations,
        long errors,
        long progressHits,
        long progressMisses,
        long payloadBytesCopied,
        long messageBytesCopied,
        long allocatedBytes,
        long dataPathNanos) {

    /** Rounds with work per hundred rounds; 0 where there was no round. */
    public double hitRatePercent() {
        long rounds = progressHits + progressMisses;
        return rounds == 0 ? 0 : 100.0 * progressHits / rounds;
    }
}
