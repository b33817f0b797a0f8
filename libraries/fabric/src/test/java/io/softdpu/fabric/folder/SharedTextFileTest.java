package io.softdpu.fabric.folder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.fabric.Bus;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.testkit.Patience;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SharedTextFileTest {

    @TempDir Path folder;

    private Bus open() {
        return Bus.open(
                new Bus.Config(
                        folder.resolve("fabric"),
                        new byte[32],
                        "note",
                        Patience.NANOS,
                        1L << 30,
                        Long.MAX_VALUE,
                        Long.MAX_VALUE));
    }

    @Test
    void shouldLoseNoChangeOfMany() throws Exception {
        try (Bus one = open();
                Bus other = open();
                ExecutorService threads = Executors.newFixedThreadPool(2)) {
            assertThat(one.hotplugText()).isNull();
            List<Future<?>> both = new ArrayList<>();
            for (Bus bus : List.of(one, other)) {
                both.add(
                        threads.submit(() -> {
                            for (int i = 0; i < 50; i++) {
                                bus.updateHotplugText(note -> note == null ? "x" : note + "x");
                            }
                        }));
            }
            for (Future<?> done : both) {
                done.get(Patience.SECONDS, TimeUnit.SECONDS);
            }
            assertThat(one.hotplugText()).isEqualTo("x".repeat(100));
            assertThat(other.hotplugText()).isEqualTo("x".repeat(100));
        }
        try (Bus later = open()) {
            assertThat(later.hotplugText()).as("the last has left").isNull();
        }
    }

    @Test
    void shouldChangeNothingWhereTheChangeFails() {
        try (Bus bus = open()) {
            bus.updateHotplugText(note -> "kept");
            assertThatThrownBy(() ->
                            bus.updateHotplugText(note -> {
                                throw new IllegalStateException("refused");
                            }))
                    .hasMessage("refused");
            assertThat(bus.hotplugText()).isEqualTo("kept");
            bus.updateHotplugText(note -> null);
            assertThat(bus.hotplugText()).isNull();
        }
    }

    @Test
    void shouldRefuseAFileThatIsTooLarge() throws Exception {
        try (Bus bus = open()) {
            Files.write(
                    folder.resolve("fabric").resolve("hotplug"),
                    new byte[SharedTextFile.MAX_BYTES + 1]);
            assertThatThrownBy(bus::hotplugText)
                    .isInstanceOf(FabricException.class)
                    .hasMessageContainingAll("too large", "hotplug");
        }
    }

    @Test
    void shouldRefuseToWriteATextThatIsTooLargeToRead() {
        try (Bus bus = open()) {
            bus.updateHotplugText(note -> "kept");
            assertThatThrownBy(() ->
                            bus.updateHotplugText(note -> "x".repeat(SharedTextFile.MAX_BYTES + 1)))
                    .isInstanceOf(FabricException.class)
                    .hasMessageContainingAll("too large", "limitBytes=" + SharedTextFile.MAX_BYTES);
            assertThat(bus.hotplugText()).isEqualTo("kept");
        }
    }

    @Test
    void shouldRefuseWhatIsNoTextOrNoPlainFile() throws Exception {
        try (Bus bus = open()) {
            Path file = folder.resolve("fabric").resolve("hotplug");
            Files.write(file, new byte[] {'a', (byte) 0xff});
            assertThatThrownBy(bus::hotplugText)
                    .isInstanceOf(FabricException.class)
                    .hasMessageContainingAll("not usable", "hotplug");
            Files.delete(file);
            Files.createSymbolicLink(file, Path.of("/dev/zero")); // which has no end
            assertThatThrownBy(bus::hotplugText)
                    .isInstanceOf(FabricException.class)
                    .hasMessageContainingAll("it is a symbolic link", "hotplug");
        }
    }

    @Test
    void shouldNotWriteThroughASymbolicLink() throws Exception {
        Path elsewhere = Files.writeString(folder.resolve("elsewhere"), "mine");
        try (Bus bus = open()) {
            Files.createSymbolicLink(folder.resolve("fabric").resolve("hotplug.new"), elsewhere);
            bus.updateHotplugText(note -> "plugged");
            assertThat(bus.hotplugText()).isEqualTo("plugged");
            assertThat(elsewhere).hasContent("mine");
        }
    }

    @Test
    void shouldStayInTheFolderThatWasOpened() throws Exception {
        try (Bus bus = open()) {
            bus.updateHotplugText(note -> "first");
            Files.move(folder.resolve("fabric"), folder.resolve("moved"));
            try (Bus other = open()) {
                other.updateHotplugText(note -> "second");
                assertThat(bus.hotplugText()).isEqualTo("first");
                bus.updateHotplugText(note -> note + " again");
                assertThat(other.hotplugText()).isEqualTo("second");
            }
            assertThat(folder.resolve("moved").resolve("hotplug")).hasContent("first again");
        }
    }
}
