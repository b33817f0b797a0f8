package io.softdpu.core.device;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Topology of the card and its machines: the functions, their sides, and the DPU's ports that
 * created them.
 *
 * <p>Immutable; two topologies with the same functions are equal, whatever their names. All
 * programs of one fabric folder must have equal topologies, compared by {@link #sha256()}. {@link
 * #builtin()} is the example of the Core guide (section 3.2.1.2).
 *
 * <p>The hash is made of this text in UTF-8, one line per function, sorted by side and interface
 * name, {@code -} for what a function does not have, each line ended by a line feed:
 *
 * <pre>
 * softdpu topology 1
 * function side=host interface=pf0 ibdev=mlx5_0 type=PF pci=0000:0b:00.0 parent=p0 representor=hpf0 ipv4=127.11.0.1 mac=02:53:44:0b:00:01 vuid=SDPU-host-pf0 rate=200000000000
 * </pre>
 *
 * <p>A line continues with {@code ipv6=} and the address if that is not derived from the MAC
 * address, with {@code limit.comch.max_clients=16} for each limit of the profile, sorted, and with
 * {@code hotplugged=yes}. Limits of libraries that a program does not have are part of it.
 */
public final class Topology {
    /** Limit of functions, more than any card has. */
    public static final int MAX_FUNCTIONS = 4096;

    private static final Topology BUILTIN = BuiltinTopology.make();

    private final String name;
    private final List<PciFunction> functions;
    private final byte[] sha256;

    private Topology(String name, List<PciFunction> functions) {
        this.name = name;
        this.functions = List.copyOf(functions);
        this.sha256 = hash(TopologyText.of(this.functions));
    }

    /**
     * The default topology: on the DPU the ports p0 (03:00.0) and p1 (03:00.1) with a sub function
     * each; on the host pf0 (0b:00.0) with two virtual functions (0b:00.2, 0b:00.3) and pf1
     * (0b:00.1) with one (0b:00.4); a representor for each host function and each sub function; and
     * a target machine with the device t0.
     */
    public static Topology builtin() {
        return BUILTIN;
    }

    /**
     * The topology that the environment variable {@code SOFTDPU_TOPOLOGY} names, a JSON file or a
     * bundled topology; {@link #builtin()} if it is unset or empty.
     *
     * @throws DpuException BAD_CONFIG if this program lacks the artefact that reads topologies,
     *     {@code softdpu-topology-json}, has several of that kind, or one that cannot be loaded, or
     *     the file is not a topology; NOT_FOUND if there is none; IO_FAILED if it cannot be read;
     *     INVALID_VALUE if the value cannot be a path
     */
    public static Topology fromEnvironment() {
        return EnvironmentTopology.read();
    }

    /** Creates a builder; the name is used in messages only. */
    public static Builder builder(String name) {
        return new Builder(name);
    }

    /** The name, for messages. */
    public String name() {
        return name;
    }

    /** All functions, sorted by side and interface name. */
    public List<PciFunction> functions() {
        return functions;
    }

    /**
     * The functions that a machine of this side has as local devices, ports first, then by address
     * and name.
     */
    public List<PciFunction> functionsOf(Side side) {
        Arguments.notNull(side, "side");
        return functions.stream()
                .filter(f -> f.side() == side)
                .sorted(
                        Comparator.comparing(PciFunction::type)
                                .thenComparing(PciFunction::pciAddress)
                                .thenComparing(PciFunction::interfaceName))
                .toList();
    }

    /** The function with this {@linkplain PciFunction#key() key}. */
    public Optional<PciFunction> functionByKey(String key) {
        Arguments.notNull(key, "key");
        return functions.stream().filter(f -> f.key().equals(key)).findFirst();
    }

    /** The DPU's port that created this function; empty if it has no parent. */
    public Optional<PciFunction> parentOf(PciFunction function) {
        @Nullable String parent = Arguments.notNull(function, "function").parent();
        return parent == null
                ? Optional.empty()
                : functions.stream()
                        .filter(f -> f.side() == Side.DPU && f.interfaceName().equals(parent))
                        .findFirst();
    }

    /**
     * The functions that this port of the DPU created, in the order of their addresses and names.
     */
    public List<PciFunction> childrenOf(PciFunction port) {
        return Arguments.notNull(port, "port").side() != Side.DPU
                ? List.of()
                : functions.stream()
                        .filter(f -> port.interfaceName().equals(f.parent()))
                        .sorted(
                                Comparator.comparing(PciFunction::pciAddress)
                                        .thenComparing(PciFunction::interfaceName))
                        .toList();
    }

    /** The text described above. */
    public String canonicalText() {
        return TopologyText.of(functions);
    }

    /**
     * Reads a {@linkplain #canonicalText() canonical text}.
     *
     * @param name the name, for messages
     * @throws DpuException INVALID_VALUE if it is malformed, naming the line; or as {@link
     *     Builder#build()}
     */
    public static Topology parse(String name, String text) {
        Builder builder = builder(name);
        TopologyText.parse(Arguments.notNull(text, "text")).forEach(builder::add);
        return builder.build();
    }

    /** 32 bytes, a new array each time: the SHA-256 of the text described above. */
    public byte[] sha256() {
        return sha256.clone();
    }

    /** {@link #sha256()} as 64 hex digits. */
    public String sha256Hex() {
        return HexFormat.of().formatHex(sha256);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Topology t && functions.equals(t.functions);
    }

    @Override
    public int hashCode() {
        return functions.hashCode();
    }

    /** The name and the first 8 digits of the hash. */
    @Override
    public String toString() {
        return name + " (sha256 " + sha256Hex().substring(0, 8) + ")";
    }

    private static byte[] hash(String text) {
        try {
            return MessageDigest.getInstance("SHA-256")
                    .digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("each Java platform has SHA-256", e);
        }
    }

    /** Builder, which checks that the functions are consistent. Belongs to one thread. */
    public static final class Builder {
        private final String name;
        private final List<PciFunction> functions = new ArrayList<>();

        private Builder(String name) {
            this.name = Arguments.notNull(name, "name");
        }

        /** Adds a function. */
        public Builder add(PciFunction function) {
            functions.add(Arguments.notNull(function, "function"));
            return this;
        }

        /**
         * Builds the topology.
         *
         * @throws DpuException INVALID_VALUE if there are too many functions, a name occurs twice
         *     on a side, a vuid twice at all, two functions other than sub functions share an
         *     address on a side, or a parent is no physical function of the DPU
         */
        public Topology build() {
            if (functions.size() > MAX_FUNCTIONS) {
                throw refused("too many functions", "count=" + functions.size());
            }
            functions.sort(
                    Comparator.comparing(PciFunction::side)
                            .thenComparing(PciFunction::interfaceName));
            Map<String, PciFunction> taken = new HashMap<>();
            for (PciFunction f : functions) {
                String side = f.side().id();
                claim(taken, f, side + " interface " + f.interfaceName());
                claim(taken, f, side + " ibdev " + f.ibdevName());
                claim(taken, f, "vuid " + f.vuid());
                if (f.type() != FunctionType.SF) {
                    claim(taken, f, side + " pci " + f.pciAddress().longForm());
                }
                if (f.representor() != null) {
                    claim(taken, f, "representor " + f.representor());
                }
            }
            for (PciFunction f : functions) {
                @Nullable String parent = f.parent();
                if (parent != null) {
                    @Nullable PciFunction port = taken.get(Side.DPU.id() + " interface " + parent);
                    if (port == null || port.type() != FunctionType.PF) {
                        throw refused(
                                "parent is no physical function of the DPU",
                                "function=" + f.key() + ", parent=" + parent);
                    }
                }
            }
            return new Topology(name, functions);
        }

        private void claim(Map<String, PciFunction> taken, PciFunction function, String what) {
            @Nullable PciFunction first = taken.putIfAbsent(what, function);
            if (first != null) {
                throw refused(
                        "occurs twice",
                        "what=" + what + ", first=" + first.key() + ", second=" + function.key());
            }
        }

        private DpuException refused(String reason, String detail) {
            return new DpuException(
                    Status.INVALID_VALUE, reason + ": topology=" + name + ", " + detail);
        }
    }
}
