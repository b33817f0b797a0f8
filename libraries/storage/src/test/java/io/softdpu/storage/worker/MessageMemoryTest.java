package io.softdpu.storage.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
import io.softdpu.storage.wire.IoMessageView;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MessageMemoryTest {
    private static final int MESSAGES = 6;

    @TempDir private Path folder;
    private Machine machine;
    private Device device;

    @BeforeEach
    void open() {
        machine = Machine.builder(Side.DPU).fabricFolder(folder).open();
        device = machine.findDevice("p0").open();
    }

    @AfterEach
    void close() {
        device.close();
        machine.close();
    }

    private MessageMemory memory() {
        return new MessageMemory(device, MESSAGES, Permissions.LOCAL_READ_WRITE);
    }

    @Test
    void shouldHaveABufForEachMessage() {
        try (MessageMemory memory = memory()) {
            for (int i = 0; i < MESSAGES; i++) {
                Buf buf = memory.buf(i);
                assertThat(buf.mmap()).isSameAs(memory.mmap());
                assertThat(buf.offset()).isEqualTo((long) i * IoMessageView.WIRE_BYTES);
                assertThat(buf.length()).isEqualTo(IoMessageView.WIRE_BYTES);
                assertThat(buf.dataLength()).as("to be received in").isZero();
                memory.fill(i);
                assertThat(buf.dataLength()).isEqualTo(IoMessageView.WIRE_BYTES);
            }
        }
    }

    @Test
    void shouldHaveAnInventoryOfItsOwn() {
        MessageMemory first = memory();
        try (MessageMemory second = memory()) {
            Buf closed = first.buf(0);
            first.close();
            assertThat(catchThrowableOfType(DpuException.class, closed::mmap).status())
                    .isEqualTo(Status.BAD_STATE);
            for (int i = 0; i < MESSAGES; i++) {
                assertThat(second.buf(i).references()).isEqualTo(1);
            }
        }
    }
}
