package io.softdpu.samples;

import io.softdpu.compute.Dma;
import io.softdpu.compute.DmaMemcpyJob;
import io.softdpu.compute.Sha;
import io.softdpu.compute.ShaAlgorithm;
import io.softdpu.compute.ShaHashJob;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.graph.Graph;
import io.softdpu.core.graph.GraphInstance;
import io.softdpu.core.graph.GraphNode;
import io.softdpu.core.graph.NodeState;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.linux.text.Text;
import java.io.PrintStream;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A graph on a work queue: a hash and a copy of one source in parallel, then a callback that prints
 * the digest and compares the copy. Ten instances of it, each with jobs of its own, are in flight
 * together; the program retrieves the end of each instance, and AGAIN for each end of a node.
 */
final class WorkQGraph implements Sample {
    private static final int INSTANCES = 10;
    private static final int BYTES = 4096;

    /** An instance takes a place of the queue for each of its two jobs, and one for itself. */
    private static final int DEPTH = 3 * INSTANCES;

    private static final ShaAlgorithm ALGORITHM = ShaAlgorithm.SHA256;

    @Override
    public String name() {
        return "graph";
    }

    @Override
    public String summary() {
        return "Runs ten instances of a graph on a work queue: SHA beside DMA, then a check.";
    }

    @Override
    public String output() {
        return "Each instance prints its digest when its hash and its copy have ended.";
    }

    @Override
    public String source() {
        return "retrieveAll() handles the end of one node per call, and of an instance by its"
                + " event.";
    }

    @Override
    public List<SampleOption> options() {
        return DmaSampleSetup.OPTIONS;
    }

    @Override
    public void run(SampleSettings settings, PrintStream out) {
        try (DmaSampleSetup setup = new DmaSampleSetup(settings, INSTANCES, BYTES, DEPTH);
                Digests digests = new Digests(setup);
                Dma dma = Dma.create(setup.device());
                Sha sha = Sha.create(setup.device())) {
            dma.start();
            sha.start();
            try (WorkQueue queue = WorkQueue.create(DEPTH);
                    Graph graph = Graph.create()) {
                // A graph starts when its contexts are on a queue, and is added after them.
                queue.add(dma);
                queue.add(sha);
                GraphNode hash = graph.addContextNode(sha, Sha.HASH_JOB);
                GraphNode copy = graph.addContextNode(dma, Dma.MEMCPY_JOB);
                GraphNode check = graph.addUserNode(number -> check(setup, digests, number, out));
                graph.addDependency(hash, check).addDependency(copy, check);
                graph.setMaxInstances(INSTANCES).start().addTo(queue);

                List<DmaMemcpyJob> copies = new ArrayList<>();
                List<GraphInstance> instances = new ArrayList<>();
                for (int i = 0; i < INSTANCES; i++) {
                    DmaMemcpyJob copying =
                            dma.createMemcpyJob(setup.source(i), setup.destination(i));
                    copies.add(copying);
                    instances.add(
                            graph.createInstance()
                                    .setJob(hash, digests.createJob(sha, setup, i))
                                    .setJob(copy, copying)
                                    .setObject(check, i)
                                    .setUserData(i));
                }
                instances.forEach(instance -> instance.submit(queue));
                // Both roots of each have begun, and wait for no other node.
                out.println(
                        Text.format(
                                "submitted: instances=%d, runningNodes=%d",
                                INSTANCES, running(instances, List.of(hash, copy, check))));
                int completed = retrieveAll(setup, queue);
                instances.forEach(GraphInstance::close);
                for (DmaMemcpyJob ended : copies) {
                    ended.source().release();
                    ended.destination().release();
                }
                graph.removeFrom(queue);
                out.println("completed: instances=" + completed);
            }
        }
    }

    /** The callback of the last node: an exception would fail the node, and end the program. */
    static Status check(
            DmaSampleSetup setup, Digests digests, @Nullable Object number, PrintStream out) {
        int instance = number instanceof Integer i ? i : -1;
        setup.check(instance);
        String digest = digests.check(instance, setup);
        out.println(Text.format("instance=%d, sha256=%s, copy is right", instance, digest));
        return Status.SUCCESS;
    }

    private static long running(List<GraphInstance> instances, List<GraphNode> nodes) {
        return instances.stream()
                .flatMap(instance -> nodes.stream().map(instance::state))
                .filter(state -> state == NodeState.RUNNING)
                .count();
    }

    private static int retrieveAll(DmaSampleSetup setup, WorkQueue queue) {
        JobEvent event = JobEvent.create();
        int completed = 0;
        while (completed < INSTANCES) {
            switch (queue.progressRetrieve(event)) {
                case SUCCESS -> {
                    // The event of an instance that has failed is retrieved with SUCCESS as well.
                    if (event.result() != 0) {
                        throw new DpuException(
                                event.status(), "instance has failed: index=" + event.userData());
                    }
                    completed++;
                }
                case AGAIN -> setup.deadline().check("end of an instance"); // a node has, or none
                default -> throw new DpuException(Status.UNEXPECTED, "queue has failed");
            }
        }
        return completed;
    }

    /**
     * Memory for the digests, and the bufs of the hashes: a buf belongs to one job at a time, so
     * the hash of a source has another than its copy.
     */
    static final class Digests implements AutoCloseable {
        private final SharedMemory memory =
                SharedMemory.allocate((long) INSTANCES * ALGORITHM.digestBytes());
        private final Mmap mmap = Mmap.create();
        private final BufInventory inventory = BufInventory.create(2 * INSTANCES);
        private final List<Buf> bufs = new ArrayList<>();

        Digests(DmaSampleSetup setup) {
            mmap.setMemory(memory)
                    .setPermissions(Permissions.LOCAL_READ_WRITE)
                    .addDevice(setup.device())
                    .start();
            inventory.start();
        }

        ShaHashJob createJob(Sha sha, DmaSampleSetup setup, int index) {
            Buf source = setup.source(index, inventory);
            Buf destination =
                    inventory.bufByAddress(
                            mmap, (long) index * ALGORITHM.digestBytes(), ALGORITHM.digestBytes());
            bufs.add(source);
            bufs.add(destination);
            return sha.createHashJob(ALGORITHM, source, destination);
        }

        /** The digest of a source, in hexadecimal digits. */
        String check(int index, DmaSampleSetup setup) {
            byte[] found =
                    memory.segment()
                            .asSlice(
                                    (long) index * ALGORITHM.digestBytes(), ALGORITHM.digestBytes())
                            .toArray(ValueLayout.JAVA_BYTE);
            byte[] expected = CopyMessage.digest(setup.data(index));
            if (!Arrays.equals(found, expected)) {
                throw new WrongDataException(
                        Text.format(
                                "digest is wrong: instance=%d, found=%s, expected=%s",
                                index, hex(found), hex(expected)));
            }
            return hex(found);
        }

        private static String hex(byte[] digest) {
            return HexFormat.of().formatHex(digest);
        }

        @Override
        public void close() {
            bufs.forEach(Buf::release);
            inventory.close();
            mmap.close();
            memory.close();
        }
    }
}
