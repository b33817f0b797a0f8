package io.softdpu.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PageFaultsTest {
    private static final int PAGES = 2000;

    /** A page of any system is at most so large. */
    private static final int PAGE_BYTES = 64 << 10;

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

        assertThat(faults[1] - faults[0]).isGreaterThanOrEqualTo(PAGES);
        assertThat(named).isGreaterThanOrEqualTo(faults[1]);
        assertThat(others).isLessThan(PAGES);
    }

    @Test
    void shouldFailForAThreadThatDoesNotExist() {
        assertThatThrownBy(() -> PageFaults.ofThreads("no such thread"))
                .isInstanceOf(AssertionError.class)
                .hasMessage("no such thread: name=no such thread");
    }

    /** A mapping of a file, since the kernel may give large pages to other memory. */
    private void touch() {
        try (FileChannel file =
                        FileChannel.open(
                                folder.resolve("touched"),
                                StandardOpenOption.CREATE,
                                StandardOpenOption.READ,
                                StandardOpenOption.WRITE);
                Arena arena = Arena.ofConfined()) {
            MemorySegment memory =
                    file.map(FileChannel.MapMode.READ_WRITE, 0, (long) PAGES * PAGE_BYTES, arena);
            for (int page = 0; page < PAGES; page++) {
                memory.set(ValueLayout.JAVA_BYTE, (long) page * PAGE_BYTES, (byte) 1);
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
