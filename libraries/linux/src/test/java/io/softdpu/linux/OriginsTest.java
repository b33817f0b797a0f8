package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.linux.text.Text;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Origins of resources; needs {@code -Dsoftdpu.origins=true}, which the build sets for all tests.
 */
class OriginsTest {

    /** Cleanup of the examples; this test must leak nothing itself. */
    private static final Deque<Runnable> LEFT = new ArrayDeque<>();

    private Map<String, Throwable> before;

    @BeforeEach
    void lookWhatIsThere() {
        assertThat(Origins.isRecorded()).as("softdpu.origins").isTrue();
        before = Origins.open();
    }

    @AfterEach
    void endWhatTheExamplesLeft() {
        while (!LEFT.isEmpty()) {
            LEFT.pop().run();
        }
    }

    @Test
    void shouldKnowEachDescriptorUntilItIsClosed() {
        int[] pair = UnixSocket.pair();
        int[] all = {
            pair[0],
            pair[1],
            FileDescriptors.open("/proc", FileDescriptors.O_DIRECTORY, 0),
            Memfd.create("origins"),
            EventFd.create(),
            UnixSocket.create()
        };

        for (int fd : all) {
            assertThat(Origins.open()).containsKey("descriptor " + fd);
        }
        for (int fd : all) {
            FileDescriptors.close(fd);
        }
        assertThat(Origins.open()).isEqualTo(before);
    }

    @Test
    void shouldKnowADescriptorThatAPeerSentUntilItIsClosed() {
        int[] pair = UnixSocket.pair();
        int sent = EventFd.create();
        try (Arena arena = Arena.ofConfined();
                ReceivedMessage message = new ReceivedMessage(1, 1)) {
            assertThat(DescriptorPassing.send(pair[0], arena.allocate(1), 1, sent)).isZero();
            assertThat(DescriptorPassing.receive(pair[1], message)).isEqualTo(1);

            int received = message.takeDescriptor(0);
            assertThat(Origins.open()).containsKey("descriptor " + received);
            FileDescriptors.close(received);
            assertThat(Origins.open()).doesNotContainKey("descriptor " + received);
        }
        FileDescriptors.close(sent);
        FileDescriptors.close(pair[0]);
        FileDescriptors.close(pair[1]);
        assertThat(Origins.open()).isEqualTo(before);
    }

    @Test
    void shouldForgetAThreadThatHasEnded() throws InterruptedException {
        Thread thread = new Thread(() -> {});
        Origins.threadMade(thread);
        assertThat(Origins.open()).doesNotContainKey("thread " + thread.threadId());

        thread.start();
        thread.join();
        assertThat(Origins.open()).isEqualTo(before);
    }

    @Test
    void shouldKeepApartWhatThreadsOfDifferentOwnersMake() throws InterruptedException {
        Object one = new Object();
        Object two = new Object();
        Thread ofTwo =
                new Thread(() -> {
                    Origins.recordFor(two);
                    Origins.opened("example of two");
                });
        Origins.recordFor(one);
        try {
            ofTwo.start();
            Thread ofOne = new Thread(() -> Origins.opened("example of one"));
            ofOne.start();
            ofOne.join();
            ofTwo.join();
        } finally {
            Origins.recordFor(null);
        }
        Origins.opened("example of none");
        assertThat(Origins.openOf(one)).containsOnlyKeys("example of one");
        assertThat(Origins.openOf(two)).containsOnlyKeys("example of two");
        assertThat(Origins.open()).containsKeys("example of none", "example of one");
        Origins.closes("example of none");
        Origins.closes("example of one");
        Origins.closes("example of two");
        assertThat(Origins.openOf(one)).isEmpty();
        assertThat(Origins.open()).isEqualTo(before);
    }

    @Test
    void shouldNameWhoAskedForWhatAnotherThreadMakes() throws InterruptedException {
        Throwable place = Origins.asking();
        Thread thread =
                new Thread(() -> {
                    Origins.askedAt(place);
                    Origins.opened("example made for another");
                    assertThat(Origins.asking()).isSameAs(place);
                });
        thread.start();
        thread.join();

        Throwable origin = Origins.open().get("example made for another");
        Origins.closes("example made for another");
        assertThat(origin).hasCause(place);
        assertThat(place.getStackTrace())
                .anySatisfy(frame ->
                        assertThat(frame.getMethodName())
                                .isEqualTo("shouldNameWhoAskedForWhatAnotherThreadMakes"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"descriptor", "mapping", "thread", "region"})
    void shouldLetAFailureNameTheLineThatLeftAThing(String kind) {
        Throwable failure = failureOf(kind);

        assertThat(failure.getMessage().lines().skip(1))
                .singleElement()
                .asString()
                .matches(
                        Text.format(
                                "  %s .*, made at %s\\.%s\\(OriginsTest\\.java:[0-9]+\\)",
                                kind, Leaky.class.getName().replace("$", "\\$"), kind));
        assertThat(failure.getSuppressed()).hasSize(1);
    }

    private static Throwable failureOf(String method) {
        TestExecutionResult[] results = new TestExecutionResult[1];
        TestExecutionListener listener =
                new TestExecutionListener() {
                    @Override
                    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                        if (test.isTest()) {
                            results[0] = result;
                        }
                    }
                };
        LauncherFactory.create(
                        LauncherConfig.builder()
                                .enableTestExecutionListenerAutoRegistration(false)
                                .addTestExecutionListeners(listener)
                                .build())
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(DiscoverySelectors.selectMethod(Leaky.class, method))
                                .configurationParameter(
                                        "junit.jupiter.extensions.autodetection.enabled", "true")
                                .configurationParameter("softdpu.leaks.deadline.millis", "100")
                                .build());
        assertThat(results[0].getStatus()).isEqualTo(TestExecutionResult.Status.FAILED);
        return results[0].getThrowable().orElseThrow();
    }

    static class Leaky {

        @Test
        void descriptor() {
            int fd = EventFd.create();
            LEFT.push(() -> FileDescriptors.close(fd));
        }

        @Test
        void mapping() {
            int fd = Memfd.create("origins");
            long size = MemoryMapping.pageSize();
            Memfd.allocate(fd, size);
            long address = MemoryMapping.map(fd, size, true);
            LEFT.push(() -> MemoryMapping.unmap(address, size));
            FileDescriptors.close(fd);
        }

        @Test
        void thread() {
            int waitsFor = LEFT.size();
            Object end = new Object();
            boolean[] ended = {false};
            Thread thread = new Thread(() -> await(end, ended), "left-alone-" + waitsFor);
            Origins.threadMade(thread);
            thread.start();
            LEFT.push(() -> {
                synchronized (end) {
                    ended[0] = true;
                    end.notifyAll();
                }
            });
        }

        private static void await(Object end, boolean[] ended) {
            synchronized (end) {
                while (!ended[0]) {
                    try {
                        end.wait();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }
            }
        }

        @Test
        void region() {
            Origins.opened("region that a bus exports");
            LEFT.push(() -> Origins.closes("region that a bus exports"));
        }
    }
}
