package io.softdpu.rdma.shm;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.softdpu.core.copy.Copier;
import io.softdpu.fabric.ring.MessageRing;
import io.softdpu.jcstress.Memory;
import io.softdpu.rdma.spi.WorkRequest;
import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * A sender goes to sleep before a full ring while the peer releases the first half of a message:
 * nothing is complete by that, but the next message has room. The sender has looked at the index
 * for its completions meanwhile, so the ring alone would find no news in it.
 */
@JCStressTest
@Outcome(id = "false, false", expect = FORBIDDEN, desc = "lost: it sleeps, and is not rung")
@Outcome(expect = ACCEPTABLE, desc = "rung, or something to do, or both")
@State
public class SenderSleep {
    private static final MessageRing.Geometry GEOMETRY = new MessageRing.Geometry(2, 256);
    private static final MemorySegment BYTES = MemorySegment.ofArray(new long[64]);

    private final MessageRing.Consumer peer;
    private final ShmSender sender;

    public SenderSleep() {
        MemorySegment memory = Memory.next();
        peer = MessageRing.consumer(memory.asSlice(ShmWire.RING_OFFSET), GEOMETRY);
        // Without a connection and a doorbell: neither is reached by what happens here.
        sender = new ShmSender(null, new Copier(), memory, GEOMETRY, null, 2, null);
        sender.submit(send(512), true);
        sender.submit(send(8), true);
        peer.poll();
    }

    private static WorkRequest send(long lengthBytes) {
        WorkRequest request = new WorkRequest(WorkRequest.Kind.SEND, status -> {}, 1);
        request.local.add(BYTES, 0, lengthBytes);
        request.lengthBytes = lengthBytes;
        return request;
    }

    @Actor
    public void release(ZZ_Result r) {
        peer.release();
        r.r1 = peer.peerArmed();
    }

    @Actor
    public void sleep(ZZ_Result r) {
        boolean moved = sender.execute();
        moved |= sender.complete();
        r.r2 = moved || sender.arm();
    }
}
