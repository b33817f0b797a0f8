package io.softdpu.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.softdpu.core.internal.wait.Waitable;
import io.softdpu.fabric.ring.MessageRing;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * A wait on a ring: poll, yield, arm, poll again, sleep until the doorbell. It has no spin, during
 * which the other actor would end.
 */
@JCStressTest
@Outcome(id = "true, false", expect = ACCEPTABLE, desc = "the message, and every sleep has ended")
@State
public class AwaitMessage implements Waitable {
    private static final MessageRing.Geometry GEOMETRY = new MessageRing.Geometry(2, 16);

    private final MessageRing.Consumer consumer;
    private final MessageRing.Producer producer;
    private final SpinlessWait spinless;
    private boolean lost;
    private volatile boolean bell;

    public AwaitMessage() {
        var memory = Memory.next();
        consumer = MessageRing.consumer(memory, GEOMETRY);
        producer = MessageRing.producer(memory, GEOMETRY);
        spinless = SpinlessWait.next();
    }

    @Actor
    public void send() {
        producer.claim();
        producer.commit(1, 0, 0);
        if (producer.peerArmed()) {
            bell = true;
        }
    }

    @Actor
    public void await(ZZ_Result r) {
        r.r1 = spinless.await(this);
        r.r2 = lost;
    }

    @Override
    public boolean progress() {
        if (consumer.poll() < 0) {
            return lost; // ends the wait
        }
        consumer.release();
        return true;
    }

    @Override
    public int situation() {
        return 0;
    }

    @Override
    public boolean isInterrupted() {
        return false;
    }

    @Override
    public boolean takeWake() {
        return false;
    }

    @Override
    public boolean arm() {
        return consumer.arm();
    }

    @Override
    public void disarm() {
        consumer.disarm();
    }

    @Override
    public void sleep(long timeoutNanos) {
        long begin = System.nanoTime();
        while (!bell && !lost) {
            Thread.onSpinWait();
            lost = System.nanoTime() - begin > Pollers.LOST_NANOS;
        }
        bell = false;
    }
}
