package io.softdpu.rdma.roce.nic;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Soak;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Ownership of a NIC by programs and its thread. */
class OwnershipTest {
    private final Ownership ownership = new Ownership();

    private static void join(Thread thread) throws InterruptedException {
        assertThat(thread.join(Patience.LIMIT)).as("end of %s", thread).isTrue();
    }

    @Test
    void shouldBelongToNoThreadBeforeTheNicHasOne() {
        assertThat(ownership.tryAcquire()).isFalse();
        assertThat(ownership.acquireOrNote()).isFalse();

        ownership.open(Thread.currentThread());

        assertThat(ownership.acquireOrNote()).isTrue();
        assertThat(ownership.release()).as("no note from before").isTrue();
    }

    @Test
    void shouldBeOfOneAtATime() {
        ownership.open(Thread.currentThread());
        assertThat(ownership.tryAcquire()).isTrue();
        assertThat(ownership.tryAcquire()).isFalse();
        assertThat(ownership.release()).isTrue();
        assertThat(ownership.tryAcquire()).isTrue();
        assertThat(ownership.leave()).as("a note").isFalse();
        ownership.acquire();
        assertThat(ownership.tryAcquire()).isFalse();
        assertThat(ownership.leave()).as("a note").isFalse();
        assertThat(ownership.tryAcquire()).isTrue();
    }

    @Test
    void shouldHaveTheOwnerLookAgainForWhatOthersHavePublished() {
        ownership.open(Thread.currentThread());
        assertThat(ownership.tryAcquire()).isTrue();
        assertThat(ownership.acquireOrNote()).isFalse();
        assertThat(ownership.acquireOrNote()).as("a second note").isFalse();

        assertThat(ownership.release()).as("with a note").isFalse();
        assertThat(ownership.tryAcquire()).as("it is kept").isFalse();
        assertThat(ownership.release()).isTrue();

        ownership.acquire();
        assertThat(ownership.acquireOrNote()).isFalse();
        assertThat(ownership.leave()).as("a note").isTrue();
        assertThat(ownership.tryAcquire()).isTrue();
    }

    @Test
    void shouldComeToTheThreadThatWaitsForIt() throws InterruptedException {
        AtomicBoolean acquired = new AtomicBoolean();
        CountDownLatch end = new CountDownLatch(1);
        Thread thread =
                Thread.ofPlatform()
                        .unstarted(() -> {
                            ownership.acquire();
                            acquired.set(true);
                            awaitEnd(end);
                            ownership.leave();
                        });
        ownership.open(thread);
        assertThat(ownership.tryAcquire()).isTrue();
        thread.start();
        Await.until("a wait", () -> thread.getState() == Thread.State.TIMED_WAITING);
        assertThat(ownership.acquireOrNote()).isFalse();
        assertThat(ownership.release()).as("with a note").isFalse();
        assertThat(acquired).isFalse();

        assertThat(ownership.release()).isTrue();
        ownership.unparkWaiting();

        assertThat(ownership.tryAcquire()).as("of the thread that has waited").isFalse();
        assertThat(ownership.acquireOrNote()).isFalse();
        Await.until("its turn", acquired::get);
        end.countDown();
        join(thread);
        assertThat(ownership.tryAcquire()).isTrue();
    }

    private static void awaitEnd(CountDownLatch end) {
        try {
            end.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** Programs that publish, and go: the owner takes it all, and there are never two. */
    @Test
    void shouldLoseNothingThatIsPublishedBesideATurn() throws InterruptedException {
        int rounds = Soak.count(20_000, 200_000, 5_000_000);
        int programs = 2;
        AtomicLong published = new AtomicLong();
        AtomicLong turns = new AtomicLong();
        long[] taken = new long[2]; // what was taken, and the turns: plain, as all of a NIC
        ownership.open(Thread.currentThread());
        ownership.acquire();
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < programs; i++) {
            all.add(
                    Thread.ofPlatform()
                            .start(() -> {
                                long own = 0;
                                for (int round = 0; round < rounds; round++) {
                                    published.incrementAndGet();
                                    if (ownership.acquireOrNote()) {
                                        do {
                                            taken[0] = published.get();
                                            taken[1]++;
                                            own++;
                                        } while (!ownership.release());
                                        ownership.unparkWaiting();
                                    }
                                }
                                turns.addAndGet(own);
                            }));
        }
        long own = 0;
        boolean more = true;
        while (more) {
            more =
                    all.stream()
                            .anyMatch(Thread::isAlive); // before the turn, which is the last then
            taken[0] = published.get();
            taken[1]++;
            own++;
            more |= ownership.leave();
            if (more) {
                ownership.acquire();
            }
        }
        for (Thread each : all) {
            join(each);
        }
        turns.addAndGet(own);

        assertThat(ownership.tryAcquire()).as("free at the end").isTrue();
        assertThat(taken[0]).as("the last was seen").isEqualTo((long) programs * rounds);
        assertThat(taken[1]).as("turns, of which no two overlapped").isEqualTo(turns.get());
    }
}
