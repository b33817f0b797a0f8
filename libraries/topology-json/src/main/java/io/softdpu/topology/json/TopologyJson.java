package io.softdpu.topology.json;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Topology;
import io.softdpu.linux.file.CheckedFile;
import io.softdpu.linux.file.FilePolicy;
import io.softdpu.linux.file.FileRefusedException;
import io.softdpu.linux.file.OutputFile;
import io.softdpu.linux.text.GivenText;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes topologies as JSON.
 *
 * <pre>
 * {
 *   "softdpu_topology": 1,
 *   "name": "one function",
 *   "functions": [
 *     {
 *       "side": "dpu", "interface_name": "p0", "ibdev_name": "mlx5_0", "function_type": "PF",
 *       "pci_address": "03:00.0", "ipv4": "127.3.0.1", "mac": "02:53:44:03:00:01",
 *       "vuid": "SDPU-dpu-p0", "active_rate_bits_per_second": 200000000000
 *     },
 *     {
 *       "side": "host", "interface_name": "pf0", "ibdev_name": "mlx5_0", "function_type": "PF",
 *       "pci_address": "0b:00.0", "parent": "p0", "representor": "hpf0",
 *       "ipv4": "127.11.0.1", "ipv6": "fe80::53:44ff:fe0b:1", "mac": "02:53:44:0b:00:01",
 *       "vuid": "SDPU-host-pf0", "active_rate_bits_per_second": 200000000000,
 *       "limits": {"comch.max_clients": 4}
 *     }
 *   ]
 * }
 * </pre>
 *
 * <p>{@code parent} and {@code representor} are given for functions that a port of the DPU exposes,
 * {@code ipv6} if it is not derived from the MAC address, and {@code limits} if a limit of the
 * device is below that of the library ({@link io.softdpu.core.device.DeviceLimit#id()}). All other
 * fields are mandatory, and unknown fields are rejected. A limit that its library does not declare
 * is rejected; limits of libraries that are not loaded are kept ({@link
 * io.softdpu.core.capability.Capabilities#acceptsLimit}). Comments as in Java and a byte order mark
 * are skipped. {@link Topology#fromEnvironment()} reads by this class what {@code SOFTDPU_TOPOLOGY}
 * names. Any thread.
 */
public final class TopologyJson {
    /** Largest accepted file in bytes, which is ample for the functions of any card. */
    public static final int MAX_BYTES = FilePolicy.MAX_TEXT_BYTES;

    /** Names of the bundled topologies, for {@link #shipped} and {@link #load}. */
    public static final List<String> SHIPPED = List.of("default", "storage-guide");

    private TopologyJson() {}

    /**
     * Reads a file.
     *
     * @throws DpuException NOT_FOUND if there is none; IO_FAILED if it cannot be read; BAD_CONFIG
     *     if it is not a regular file, too large or not a topology: the message names the file, the
     *     line, the field and the expected value
     */
    public static Topology read(Path file) {
        try {
            return parse(
                    require(file, "file").toString(),
                    CheckedFile.readText(file, FilePolicy.USER_TEXT));
        } catch (FileRefusedException e) {
            throw new DpuException(
                    Status.BAD_CONFIG,
                    "topology refused: file="
                            + file
                            + ", reason="
                            + e.reason()
                            + ", expected="
                            + e.expected(),
                    e);
        } catch (NoSuchFileException e) {
            throw new DpuException(
                    Status.NOT_FOUND,
                    Text.format(
                            "no such topology: file=%s, expected=a file, or one of %s",
                            file, SHIPPED),
                    e);
        } catch (CharacterCodingException e) {
            throw new DpuException(
                    Status.BAD_CONFIG,
                    "topology refused: file=" + file + ", reason=not UTF-8, expected=JSON",
                    e);
        } catch (IOException e) {
            throw new DpuException(
                    Status.IO_FAILED,
                    "topology cannot be read: file=" + file + ", reason=" + Reason.of(e),
                    e);
        }
    }

    /**
     * Parses a text.
     *
     * @param source name of the file in messages
     * @throws DpuException BAD_CONFIG as {@link #read}
     */
    public static Topology parse(String source, String text) {
        return new TopologyReader(require(source, "source"), require(text, "text")).read();
    }

    /**
     * A bundled topology: {@code default}, which is {@link Topology#builtin()}, or {@code
     * storage-guide}, which has the addresses of the storage guide's example calls.
     *
     * @throws DpuException NOT_FOUND for another name, naming the bundled ones
     */
    public static Topology shipped(String name) {
        if (!SHIPPED.contains(require(name, "name"))) {
            throw new DpuException(
                    Status.NOT_FOUND, "no such topology: name=" + name + ", available=" + SHIPPED);
        }
        String resource = name + ".json";
        try (@Nullable InputStream in = TopologyJson.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException("resource is missing: name=" + resource);
            }
            return parse(resource, new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Loads a topology by name: one of {@link #SHIPPED}, or else a file ({@code ./default} is a
     * file of that name).
     *
     * @throws DpuException as {@link #read}; INVALID_VALUE if it cannot be a path, or one that this
     *     JVM cannot represent in its locale
     */
    public static Topology load(String fileOrName) {
        return load("argument=fileOrName", require(fileOrName, "fileOrName"));
    }

    static Topology load(String source, String fileOrName) {
        if (SHIPPED.contains(fileOrName)) {
            return shipped(fileOrName);
        }
        return read(
                GivenText.path(
                        source,
                        fileOrName,
                        refusal -> new DpuException(Status.INVALID_VALUE, refusal)));
    }

    /**
     * Writes a topology as a text from which {@link #parse} makes an equal one, except that
     * functions that were plugged in at run time become ordinary functions.
     */
    public static String toJson(Topology topology) {
        return TopologyWriter.write(require(topology, "topology"));
    }

    /**
     * Writes a file, replacing an existing regular one; whatever fails, that stays as it is.
     *
     * @throws DpuException IO_FAILED if it cannot be written, or the name is that of something else
     *     than a regular file, such as a symbolic link
     */
    public static void write(Topology topology, Path file) {
        String json = toJson(topology);
        try {
            OutputFile.replace(
                    require(file, "file"),
                    MemorySegment.ofArray(json.getBytes(StandardCharsets.UTF_8)));
        } catch (IOException e) {
            throw new DpuException(
                    Status.IO_FAILED,
                    "topology cannot be written: file=" + file + ", reason=" + Reason.of(e),
                    e);
        }
    }

    private static <T> T require(@Nullable T value, String what) {
        if (value == null) {
            throw new DpuException(Status.INVALID_VALUE, "argument is null: argument=" + what);
        }
        return value;
    }
}
