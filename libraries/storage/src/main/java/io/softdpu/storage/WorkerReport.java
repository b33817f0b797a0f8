package io.softdpu.storage;

import io.softdpu.rdma.RdmaConnection;
import java.time.Duration;

/**
 * Report of a data path thread.
 *
 * @param index index of the thread, from 0
 * @param cpu CPU binding of the thread
 * @param operations completed reads and writes, failed ones included
 * @param reads completed reads, failed ones included; 0 for a service, which does not look at the
 *     messages
 * @param writes the same for writes
 * @param errors failed reads and writes; 0 for a service
 * @param payloadBytes bytes that the successful ones have moved; 0 for a service
 * @param refusedSubmissions tasks that a full work queue refused at first
 * @param progressHits progress rounds of the data path that found work
 * @param progressMisses progress rounds of the data path that found no work
 * @param payloadBytesCopied bytes of the volume's data that its engine copied
 * @param messageBytesCopied bytes of messages that its engine copied
 * @param allocatedBytes heap bytes that its thread allocated in the data path
 * @param dataPathDuration duration of the data path; zero before its end
 * @param provider name of the RDMA provider that serves its connections; empty before they are
 *     connected, and for an initiator, which has none
 * @param pathMtuBytes lowest path MTU of its connections; 0 where the provider is empty
 * @param counters of that provider; none before the end of the data path
 */
public record WorkerReport(
        int index,
        String cpu,
        long operations,
        long reads,
        long writes,
        long errors,
        long payloadBytes,
        long refusedSubmissions,
        long progressHits,
        long progressMisses,
        long payloadBytesCopied,
        long messageBytesCopied,
        long allocatedBytes,
        Duration dataPathDuration,
        String provider,
        int pathMtuBytes,
        RdmaCounters counters) {

    /**
     * Bytes of the volume's data that NICs of its process copied out of packets of its RDMA
     * connections; 0 before the end of the data path.
     */
    public long nicPayloadBytesCopied() {
        return counters.connections().getOrDefault(RdmaConnection.NIC_PAYLOAD_BYTES_COPIED, 0L);
    }

    /** The same with other counters. */
    public WorkerReport with(RdmaCounters others) {
        return new WorkerReport(
                index,
                cpu,
                operations,
                reads,
                writes,
                errors,
                payloadBytes,
                refusedSubmissions,
                progressHits,
                progressMisses,
                payloadBytesCopied,
                messageBytesCopied,
                allocatedBytes,
                dataPathDuration,
                provider,
                pathMtuBytes,
                others);
    }
}
