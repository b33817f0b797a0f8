package io.softdpu.core.resource;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Resources that a tracking sees, and the place of their creation. */
class ResourceTrackingTest {
    @TempDir private Path folder;
    private ResourceTracking tracking;

    @BeforeEach
    void start() {
        tracking = ResourceTracking.start();
    }

    @AfterEach
    void end() {
        tracking.close();
    }

    private List<String> kinds() {
        return tracking.open().stream().map(OpenResource::kind).distinct().toList();
    }

    @Test
    void shouldSeeWhatAMachineAndAnExportHoldUntilTheyAreClosed() throws Exception {
        try (Machines machines = new Machines(folder)) {
            var device = machines.device(Side.HOST, "pf0");
            SharedMemory memory = machines.add(SharedMemory.allocate(4096));
            Mmap mmap =
                    machines.add(
                            Mmap.create()
                                    .setMemory(memory)
                                    .setPermissions(Permissions.of(AccessFlag.PCI_READ_WRITE))
                                    .addDevice(device)
                                    .start());
            assertThat(mmap.exportPci(device)).isNotEmpty();
            assertThat(kinds()).contains("descriptor", "mapping", "thread", "region");
        }
        // A thread of the bus has done its work at the close, and ends soon.
        assertThat(tracking.open())
                .allSatisfy(resource -> assertThat(resource.kind()).isEqualTo("thread"));
        Await.until("the threads have ended", () -> tracking.open().isEmpty());
    }

    @Test
    void shouldNameTheCallThatCreatedAResource() {
        try (ProgressEngine engine = ProgressEngine.create()) {
            assertThat(engine.owner()).isSameAs(Thread.currentThread());
            assertThat(tracking.open())
                    .isNotEmpty()
                    .allSatisfy(resource ->
                            assertThat(resource.createdAt().getStackTrace())
                                    .extracting(StackTraceElement::getMethodName)
                                    .containsSubsequence(
                                            "create", "shouldNameTheCallThatCreatedAResource"));
        }
    }

    @Test
    void shouldGoOnAfterTheCloseOfATrackingStartedLater() {
        ResourceTracking later = ResourceTracking.start();
        later.close();
        later.close();
        try (ProgressEngine engine = ProgressEngine.create()) {
            assertThat(engine.hits()).isZero();
            assertThat(tracking.open()).isNotEmpty();
            assertThat(later.open()).isEmpty();
        }
    }

    @Test
    void shouldGoOnAfterTheCloseOfATrackingStartedBefore() {
        try (ResourceTracking later = ResourceTracking.start()) {
            tracking.close();
            try (ProgressEngine engine = ProgressEngine.create()) {
                assertThat(engine.hits()).isZero();
                assertThat(later.open()).isNotEmpty();
                assertThat(tracking.open()).isEmpty();
            }
        }
        try (ProgressEngine engine = ProgressEngine.create()) {
            assertThat(engine.hits()).isZero();
            assertThat(tracking.open()).as("was closed").isEmpty();
        }
    }

    @Test
    void shouldSeeNothingOfAnotherThreadWithATrackingOfItsOwn() throws Exception {
        CompletableFuture<List<OpenResource>> seenThere = new CompletableFuture<>();
        CompletableFuture<Void> seenHere = new CompletableFuture<>();
        Thread other =
                new Thread(() -> {
                    try (ResourceTracking own = ResourceTracking.start();
                            ProgressEngine engine = ProgressEngine.create()) {
                        assertThat(engine.hits()).isZero();
                        seenThere.complete(own.open());
                        seenHere.get(Patience.SECONDS, TimeUnit.SECONDS);
                    } catch (Exception | Error e) {
                        seenThere.completeExceptionally(e);
                    }
                });
        other.start();
        assertThat(seenThere.get(Patience.SECONDS, TimeUnit.SECONDS)).isNotEmpty();
        assertThat(tracking.open()).isEmpty();
        seenHere.complete(null);
        other.join();
    }
}
