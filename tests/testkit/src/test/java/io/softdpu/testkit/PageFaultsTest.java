package io.softdpu.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PageFaultsTest {
    private static final int MAPPINGS = 2000;

    @TempDir Path folder;

    @Test
    void shouldCountTheFaultsOfTheThreadThatTouchesMemory() throws Exception {
        long[] faults = new long[2];
        CountDownLatch touched = new CountDownLatch(1);
        CountDownLatch read = new CountDownLatch(1);
        long before = PageFaults.ofThisThread();
        Thread thread =
                new Thread(
                        () -> {
                            faults[0] = PageFaults.ofThisThread();
                            touch();
                            faults[1] = PageFaults.ofThisThread();
                            touched.countDown();
                            try {
                                read.await();
                            } catch (InterruptedException e) {
                                throw new AssertionError(e);
                            }
                        },
                        "touches-memory");
        thread.start();
        touched.await();
        long others = PageFaults.ofThisThread() - before;
        long named = PageFaults.ofThreads("touches-memory");
        read.countDown();
        thread.join();

        assertThat(faults[1] - faults[0]).isGreaterThanOrEqualTo(MAPPINGS);
        assertThat(named).isGreaterThanOrEqualTo(faults[1]);
        assertThat(others).isLessThan(MAPPINGS);
    }

    @Test
    void shouldFailForAThreadThatDoesNotExist() {
        assertThatThrownBy(() -> PageFaults.ofThreads("no such thread"))
                .isInstanceOf(AssertionError.class)
                .hasMessage("no such thread: name=no such thread");
    }

    /**
     * One page, mapped many times: each mapping has a fault of its own, however large pages are.
     */
    private void touch() {
        try (FileChannel file =
                        FileChannel.open(
                                folder.resolve("touched"),
                                StandardOpenOption.CREATE,
                                StandardOpenOption.READ,
                                StandardOpenOption.WRITE);
                Arena arena = Arena.ofConfined()) {
            for (int i = 0; i < MAPPINGS; i++) {
                file.map(FileChannel.MapMode.READ_WRITE, 0, 1, arena)
                        .set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
