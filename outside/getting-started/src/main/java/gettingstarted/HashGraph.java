package gettingstarted;

import io.softdpu.compute.Dma;
import io.softdpu.compute.DmaMemcpyTask;
import io.softdpu.compute.Sha;
import io.softdpu.compute.ShaAlgorithm;
import io.softdpu.compute.ShaHashTask;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.graph.Graph;
import io.softdpu.core.graph.GraphInstance;
import io.softdpu.core.graph.GraphNode;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;

/** A graph: a copy by DMA, then a hash of the copy by SHA, then a callback. */
public final class HashGraph {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int BYTES = 1 << 20;

    public static void main(String[] arguments) {
        try (Machine machine = Machine.open(Side.DPU);
                Device device = machine.findDevice("03:00.0").open();
                SharedMemory memory = SharedMemory.allocate(3L * BYTES);
                Mmap mmap =
                        Mmap.create()
                                .setMemory(memory)
                                .setPermissions(Permissions.of(AccessFlag.LOCAL_READ_WRITE))
                                .addDevice(device)
                                .start();
                BufInventory inventory = BufInventory.create(4).start();
                ProgressEngine engine = ProgressEngine.create();
                Dma dma = Dma.create(device);
                Sha sha = Sha.create(device)) {
            dma.setMemcpyTasks(1, task -> {}, task -> {}); // not called for tasks of a graph
            sha.setHashTasks(1, task -> {}, task -> {});
            engine.start(dma, TIMEOUT);
            engine.start(sha, TIMEOUT);
            Buf data = inventory.bufByData(mmap, 0, BYTES);
            Buf copied = inventory.bufByAddress(mmap, BYTES, BYTES);
            Buf hashed = inventory.bufByData(mmap, BYTES, BYTES);
            Buf digest = inventory.bufByAddress(mmap, 2L * BYTES, 32);
            DmaMemcpyTask copy = dma.allocateMemcpy(data, copied);
            ShaHashTask hash = sha.allocateHash(ShaAlgorithm.SHA256, hashed, digest);
            try (Graph graph = Graph.create(engine)) {
                graph.setCallbacks(ended -> {}, ended -> {});
                GraphNode first = graph.addContextNode(dma);
                GraphNode second = graph.addContextNode(sha);
                GraphNode last = graph.addUserNode(object -> print(memory));
                graph.addDependency(first, second).addDependency(second, last).start();
                try (GraphInstance instance = graph.createInstance()) {
                    instance.setTask(first, copy).setTask(second, hash).submit();
                    // Without the contexts: if one fails, the instance still has to end.
                    engine.runUntil(() -> !instance.isInFlight(), TIMEOUT);
                    if (instance.failure() != null) {
                        throw instance.failure();
                    }
                    System.out.println("graph: status=" + instance.status());
                }
            }
            copy.free();
            hash.free();
            List.of(data, copied, hashed, digest).forEach(Buf::release);
        }
    }

    private static Status print(SharedMemory memory) {
        byte[] digest = memory.segment().asSlice(2L * BYTES, 32).toArray(ValueLayout.JAVA_BYTE);
        System.out.println("sha256 of the copy: " + HexFormat.of().formatHex(digest));
        return Status.SUCCESS;
    }
}
