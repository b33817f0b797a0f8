package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.testkit.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class AffinityTest {
    /** In a thread of its own, so that the thread of the tests keeps its CPUs. */
    private static <T> T inNewThread(Callable<T> body) throws Exception {
        FutureTask<T> task = new FutureTask<>(body);
        Thread.ofPlatform().name("affinity-test").start(task);
        try {
            return task.get(Patience.SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw e;
        }
    }

    private static String allowedInProc() throws IOException {
        return Files.readAllLines(Path.of("/proc/thread-self/status")).stream()
                .filter(line -> line.startsWith("Cpus_allowed_list:"))
                .map(line -> line.substring("Cpus_allowed_list:".length()).strip())
                .findFirst()
                .orElseThrow();
    }

    private static BitSet only(int cpu) {
        BitSet set = new BitSet();
        set.set(cpu);
        return set;
    }

    @Test
    void shouldPinTheCallingThreadOnly() throws Exception {
        int last = Affinity.allowed().length() - 1;
        BitSet before = Affinity.ofCurrentThread();

        inNewThread(() -> {
            Affinity.pinCurrentThread(last);

            assertThat(allowedInProc()).isEqualTo(Integer.toString(last));
            assertThat(Affinity.ofCurrentThread()).isEqualTo(only(last));
            return null;
        });

        assertThat(Affinity.ofCurrentThread()).isEqualTo(before);
    }

    @Test
    void shouldHandThePinOnToThreadsThatThePinnedOneStarts() throws Exception {
        int first = Affinity.allowed().nextSetBit(0);

        BitSet inherited =
                inNewThread(() -> {
                    Affinity.pinCurrentThread(first);
                    return inNewThread(Affinity::ofCurrentThread);
                });

        assertThat(inherited).isEqualTo(only(first));
    }

    @Test
    void shouldUndoAPinAlsoAnInheritedOne() throws Exception {
        int first = Affinity.allowed().nextSetBit(0);

        BitSet undone =
                inNewThread(() -> {
                    Affinity.pinCurrentThread(first);
                    return inNewThread(() -> {
                        Affinity.unpinCurrentThread();
                        return Affinity.ofCurrentThread();
                    });
                });

        assertThat(undone).isEqualTo(Affinity.allowed());
    }

    @Test
    void shouldCountTheCpusOfTheProcessAlsoFromAPinnedThread() throws Exception {
        int counted =
                inNewThread(() -> {
                    Affinity.pinCurrentThread(Affinity.allowed().nextSetBit(0));
                    return Affinity.availableCpus();
                });

        assertThat(counted).isEqualTo(Affinity.allowed().cardinality()).isPositive();
    }

    @Test
    void shouldNameTheCpuThatIsNotThere() throws Exception {
        int missing = Affinity.MAX_CPUS - 1;

        assertThatThrownBy(() ->
                        inNewThread(() -> {
                            Affinity.pinCurrentThread(missing);
                            return null;
                        }))
                .isInstanceOf(LinuxException.class)
                .hasMessage("sched_setaffinity failed: errno=22 (EINVAL), cpus={" + missing + "}");
        assertThatThrownBy(() -> Affinity.pinCurrentThread(-1))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> Affinity.pinCurrentThread(Affinity.MAX_CPUS))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void shouldKnowWhoThisProcessIs() throws IOException {
        assertThat(Identity.pid()).isEqualTo((int) ProcessHandle.current().pid());
        assertThat(Identity.effectiveUid())
                .isEqualTo(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
    }
}
