_tracemend() {
    local i cur prev opts cmd
    COMPREPLY=()
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        cur="$2"
    else
        cur="${COMP_WORDS[COMP_CWORD]}"
    fi
    prev="$3"
    cmd=""
    opts=""

    for i in "${COMP_WORDS[@]:0:COMP_CWORD}"
    do
        case "${cmd},${i}" in
            ",$1")
                cmd="tracemend"
                ;;
            tracemend,apply)
                cmd="tracemend__subcmd__apply"
                ;;
            tracemend,audit)
                cmd="tracemend__subcmd__audit"
                ;;
            tracemend,check)
                cmd="tracemend__subcmd__check"
                ;;
            tracemend,codes)
                cmd="tracemend__subcmd__codes"
                ;;
            tracemend,completions)
                cmd="tracemend__subcmd__completions"
                ;;
            tracemend,cut)
                cmd="tracemend__subcmd__cut"
                ;;
            tracemend,diff)
                cmd="tracemend__subcmd__diff"
                ;;
            tracemend,dump)
                cmd="tracemend__subcmd__dump"
                ;;
            tracemend,explain)
                cmd="tracemend__subcmd__explain"
                ;;
            tracemend,formats)
                cmd="tracemend__subcmd__formats"
                ;;
            tracemend,help)
                cmd="tracemend__subcmd__help"
                ;;
            tracemend,man)
                cmd="tracemend__subcmd__man"
                ;;
            tracemend,map)
                cmd="tracemend__subcmd__map"
                ;;
            tracemend,merge)
                cmd="tracemend__subcmd__merge"
                ;;
            tracemend,redact)
                cmd="tracemend__subcmd__redact"
                ;;
            tracemend,repair)
                cmd="tracemend__subcmd__repair"
                ;;
            tracemend,self-test)
                cmd="tracemend__subcmd__self__subcmd__test"
                ;;
            tracemend,verify)
                cmd="tracemend__subcmd__verify"
                ;;
            tracemend__subcmd__help,apply)
                cmd="tracemend__subcmd__help__subcmd__apply"
                ;;
            tracemend__subcmd__help,audit)
                cmd="tracemend__subcmd__help__subcmd__audit"
                ;;
            tracemend__subcmd__help,check)
                cmd="tracemend__subcmd__help__subcmd__check"
                ;;
            tracemend__subcmd__help,codes)
                cmd="tracemend__subcmd__help__subcmd__codes"
                ;;
            tracemend__subcmd__help,completions)
                cmd="tracemend__subcmd__help__subcmd__completions"
                ;;
            tracemend__subcmd__help,cut)
                cmd="tracemend__subcmd__help__subcmd__cut"
                ;;
            tracemend__subcmd__help,diff)
                cmd="tracemend__subcmd__help__subcmd__diff"
                ;;
            tracemend__subcmd__help,dump)
                cmd="tracemend__subcmd__help__subcmd__dump"
                ;;
            tracemend__subcmd__help,explain)
                cmd="tracemend__subcmd__help__subcmd__explain"
                ;;
            tracemend__subcmd__help,formats)
                cmd="tracemend__subcmd__help__subcmd__formats"
                ;;
            tracemend__subcmd__help,help)
                cmd="tracemend__subcmd__help__subcmd__help"
                ;;
            tracemend__subcmd__help,man)
                cmd="tracemend__subcmd__help__subcmd__man"
                ;;
            tracemend__subcmd__help,map)
                cmd="tracemend__subcmd__help__subcmd__map"
                ;;
            tracemend__subcmd__help,merge)
                cmd="tracemend__subcmd__help__subcmd__merge"
                ;;
            tracemend__subcmd__help,redact)
                cmd="tracemend__subcmd__help__subcmd__redact"
                ;;
            tracemend__subcmd__help,repair)
                cmd="tracemend__subcmd__help__subcmd__repair"
                ;;
            tracemend__subcmd__help,self-test)
                cmd="tracemend__subcmd__help__subcmd__self__subcmd__test"
                ;;
            tracemend__subcmd__help,verify)
                cmd="tracemend__subcmd__help__subcmd__verify"
                ;;
            *)
                ;;
        esac
    done

    case "${cmd}" in
        tracemend)
            opts="-h -V --color --sandbox --help --version apply verify codes formats merge completions man self-test diff cut explain check audit repair redact dump map help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --sandbox)
                    COMPREPLY=($(compgen -W "auto on off" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__apply)
            opts="-o -h --output --reverse --force --color --sandbox --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --sandbox)
                    COMPREPLY=($(compgen -W "auto on off" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__audit)
            opts="-o -h --format --output --show --concern --limits --limit --no-transport --part --type --color --sandbox --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --format)
                    COMPREPLY=($(compgen -W "human json jsonl oneline sarif junit github gitlab azure rdjson tap html svg" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --concern)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --limits)
                    COMPREPLY=($(compgen -W "strict default large" -- "${cur}"))
                    return 0
                    ;;
                --limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --part)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --type)
                    COMPREPLY=($(compgen -W "perf apitrace ovni qemu revent" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --sandbox)
                    COMPREPLY=($(compgen -W "auto on off" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__check)
            opts="-o -v -q -h --files-from --format --output --fail-on --config --no-config --baseline --write-baseline --statistics --shard --resume --checksums --all --max-findings --verbose --edits --strict --jobs --quiet --limits --limit --no-transport --donor --abi --for-perf --part --close-calls --strategy --upgrade --qemu-version --release --target --deny --warn --allow --type --color --sandbox --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --files-from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json jsonl oneline sarif junit github gitlab azure rdjson tap html svg" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fail-on)
                    COMPREPLY=($(compgen -W "error warning info never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --baseline)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --shard)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --resume)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-findings)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --limits)
                    COMPREPLY=($(compgen -W "strict default large" -- "${cur}"))
                    return 0
                    ;;
                --limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --donor)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --abi)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --for-perf)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --part)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --strategy)
                    COMPREPLY=($(compgen -W "close cut prefix" -- "${cur}"))
                    return 0
                    ;;
                --qemu-version)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --release)
                    COMPREPLY=($(compgen -W "always auto never" -- "${cur}"))
                    return 0
                    ;;
                --target)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --deny)
                    COMPREPLY=($(compgen -W "CM0001 CM0002 CM0003 CM0004 CM0005 CM0006 CM0101 CM0102 CM0103 CM0104 CM0105 CM9001 CM9002 TR0001 TR0002 TR0003 TR0004 TR0005 TR0006 TR0007 TR0008 TR0101 TR0103 TR0102 PD0001 PD0002 PD0003 PD0004 PD0005 PD0006 PD0007 PD0008 PD0009 PD0010 PD0011 PD0012 PD0013 PD0014 PD0015 PD0016 PD0017 PD0018 PD0019 PD0020 PD0021 PD0022 PD0023 PD0024 PD0025 PD0026 PD0027 PD0028 PD0029 PD0030 PD0031 PD0032 PD0033 PD0034 PD0035 PD0036 PD0037 PD0038 PD0039 PD1001 PD1002 PD1003 PD1004 PD1005 PD1006 PD1007 PD1008 PD1009 PD2001 PD2002 PD2003 PD2004 PD2005 PD2006 PD2007 PD2008 PD2009 PD2010 PD2011 PD2012 PD2013 PD2014 PD2015 PD2016 PD2017 PD3001 PD3002 PD3003 PD3004 PD3005 PD3006 PD3007 PD8001 PD8002 PD8003 PD8004 PD8005 AT0001 AT0002 AT0003 AT0004 AT0005 AT0006 AT0007 AT1001 AT1002 AT1003 AT1004 AT1005 AT2001 AT2002 AT2003 AT2004 AT2005 AT2006 AT2007 AT2008 AT2009 AT2010 AT2011 AT2012 AT2013 AT2014 AT2015 AT2016 AT2017 AT2018 AT2021 AT3001 AT3002 AT3003 AT3004 AT3005 AT3006 AT8001 AT8002 AT8003 AT8004 AT8005 AT8006 AT8007 AT8008 AT8009 AT8010 AT9001 OV0001 OV0002 OV0003 OV0004 OV0005 OV0101 OV0102 OV0103 OV0110 OV0111 OV0112 OV0113 OV0114 OV0115 OV0116 OV0117 OV0118 OV0119 OV0120 OV0121 OV0122 OV0123 OV0124 OV1001 OV1002 OV1003 OV1004 OV1005 OV1006 OV1007 OV2001 OV2002 OV2003 OV2004 OV2005 OV2006 OV2007 OV2008 OV2009 OV2010 OV2011 OV3001 OV3002 OV3003 OV3004 OV3005 OV3006 OV3007 OV3008 OV3009 OV3010 OV3011 OV3012 OV3013 OV3014 OV4001 OV4002 OV4003 OV4004 OV4005 OV4006 OV4007 OV4008 OV4009 OV4010 OV4011 OV4012 OV4013 OV4014 OV4015 OV4016 OV4017 OV4018 QR0001 QR0002 QR0003 QR0004 QR0005 QR0006 QR1001 QR1002 QR1003 QR1004 QR1005 QR1006 QR2001 QR2002 QR2003 QR2004 QR2005 QR2006 QR2007 QR2008 QR2009 QR2010 QR2011 QR2012 QR2013 QR2014 QR2015 QR2016 QR2017 QR3001 QR3002 QR3003 QR3004 QR3005 QR3006 QR3007 QR3008 QR3009 QR3010 QR3011 QR3012 QR3013 QR3014 QR3015 QR3016 QR3017 RV0001 RV0002 RV0003 RV0004 RV0005 RV0006 RV0007 RV0008 RV0009 RV0010 RV0011 RV0021 RV0022 RV0023 RV0012 RV0013 RV0014 RV0015 RV0016 RV0017 RV0018 RV0019 RV0020 RV0024 RV1001 RV1002 RV1003 RV1004 RV1005 RV1006 RV1007 RV1008 RV1009 RV2001 RV2002 RV2003 RV2004 RV2005 RV2006 RV2007 RV2008 RV2009 RV2010 RV2011 RV3001 RV3002 RV3003 RV3004 RV3005 RV3006 RV3007 RV3008 RV4001 RV4002 RV4003 AU0001 AU0002 AU0003 AU0004 AU0005 AU0006 AU0007 AU0008 AU0009 AU1001 AU1002 AU1003 AU1004 AU1005 AU1006 AU1007 AU1008 AU1009 AU1010 AU1011 AU1012 AU1013 AU1014 AU1015 AU1016 AU1017 AU1018 AU1019 AU1020 AU1021 AU1022 AU1023 AU1024" -- "${cur}"))
                    return 0
                    ;;
                --warn)
                    COMPREPLY=($(compgen -W "CM0001 CM0002 CM0003 CM0004 CM0005 CM0006 CM0101 CM0102 CM0103 CM0104 CM0105 CM9001 CM9002 TR0001 TR0002 TR0003 TR0004 TR0005 TR0006 TR0007 TR0008 TR0101 TR0103 TR0102 PD0001 PD0002 PD0003 PD0004 PD0005 PD0006 PD0007 PD0008 PD0009 PD0010 PD0011 PD0012 PD0013 PD0014 PD0015 PD0016 PD0017 PD0018 PD0019 PD0020 PD0021 PD0022 PD0023 PD0024 PD0025 PD0026 PD0027 PD0028 PD0029 PD0030 PD0031 PD0032 PD0033 PD0034 PD0035 PD0036 PD0037 PD0038 PD0039 PD1001 PD1002 PD1003 PD1004 PD1005 PD1006 PD1007 PD1008 PD1009 PD2001 PD2002 PD2003 PD2004 PD2005 PD2006 PD2007 PD2008 PD2009 PD2010 PD2011 PD2012 PD2013 PD2014 PD2015 PD2016 PD2017 PD3001 PD3002 PD3003 PD3004 PD3005 PD3006 PD3007 PD8001 PD8002 PD8003 PD8004 PD8005 AT0001 AT0002 AT0003 AT0004 AT0005 AT0006 AT0007 AT1001 AT1002 AT1003 AT1004 AT1005 AT2001 AT2002 AT2003 AT2004 AT2005 AT2006 AT2007 AT2008 AT2009 AT2010 AT2011 AT2012 AT2013 AT2014 AT2015 AT2016 AT2017 AT2018 AT2021 AT3001 AT3002 AT3003 AT3004 AT3005 AT3006 AT8001 AT8002 AT8003 AT8004 AT8005 AT8006 AT8007 AT8008 AT8009 AT8010 AT9001 OV0001 OV0002 OV0003 OV0004 OV0005 OV0101 OV0102 OV0103 OV0110 OV0111 OV0112 OV0113 OV0114 OV0115 OV0116 OV0117 OV0118 OV0119 OV0120 OV0121 OV0122 OV0123 OV0124 OV1001 OV1002 OV1003 OV1004 OV1005 OV1006 OV1007 OV2001 OV2002 OV2003 OV2004 OV2005 OV2006 OV2007 OV2008 OV2009 OV2010 OV2011 OV3001 OV3002 OV3003 OV3004 OV3005 OV3006 OV3007 OV3008 OV3009 OV3010 OV3011 OV3012 OV3013 OV3014 OV4001 OV4002 OV4003 OV4004 OV4005 OV4006 OV4007 OV4008 OV4009 OV4010 OV4011 OV4012 OV4013 OV4014 OV4015 OV4016 OV4017 OV4018 QR0001 QR0002 QR0003 QR0004 QR0005 QR0006 QR1001 QR1002 QR1003 QR1004 QR1005 QR1006 QR2001 QR2002 QR2003 QR2004 QR2005 QR2006 QR2007 QR2008 QR2009 QR2010 QR2011 QR2012 QR2013 QR2014 QR2015 QR2016 QR2017 QR3001 QR3002 QR3003 QR3004 QR3005 QR3006 QR3007 QR3008 QR3009 QR3010 QR3011 QR3012 QR3013 QR3014 QR3015 QR3016 QR3017 RV0001 RV0002 RV0003 RV0004 RV0005 RV0006 RV0007 RV0008 RV0009 RV0010 RV0011 RV0021 RV0022 RV0023 RV0012 RV0013 RV0014 RV0015 RV0016 RV0017 RV0018 RV0019 RV0020 RV0024 RV1001 RV1002 RV1003 RV1004 RV1005 RV1006 RV1007 RV1008 RV1009 RV2001 RV2002 RV2003 RV2004 RV2005 RV2006 RV2007 RV2008 RV2009 RV2010 RV2011 RV3001 RV3002 RV3003 RV3004 RV3005 RV3006 RV3007 RV3008 RV4001 RV4002 RV4003 AU0001 AU0002 AU0003 AU0004 AU0005 AU0006 AU0007 AU0008 AU0009 AU1001 AU1002 AU1003 AU1004 AU1005 AU1006 AU1007 AU1008 AU1009 AU1010 AU1011 AU1012 AU1013 AU1014 AU1015 AU1016 AU1017 AU1018 AU1019 AU1020 AU1021 AU1022 AU1023 AU1024" -- "${cur}"))
                    return 0
                    ;;
                --allow)
                    COMPREPLY=($(compgen -W "CM0001 CM0002 CM0003 CM0004 CM0005 CM0006 CM0101 CM0102 CM0103 CM0104 CM0105 CM9001 CM9002 TR0001 TR0002 TR0003 TR0004 TR0005 TR0006 TR0007 TR0008 TR0101 TR0103 TR0102 PD0001 PD0002 PD0003 PD0004 PD0005 PD0006 PD0007 PD0008 PD0009 PD0010 PD0011 PD0012 PD0013 PD0014 PD0015 PD0016 PD0017 PD0018 PD0019 PD0020 PD0021 PD0022 PD0023 PD0024 PD0025 PD0026 PD0027 PD0028 PD0029 PD0030 PD0031 PD0032 PD0033 PD0034 PD0035 PD0036 PD0037 PD0038 PD0039 PD1001 PD1002 PD1003 PD1004 PD1005 PD1006 PD1007 PD1008 PD1009 PD2001 PD2002 PD2003 PD2004 PD2005 PD2006 PD2007 PD2008 PD2009 PD2010 PD2011 PD2012 PD2013 PD2014 PD2015 PD2016 PD2017 PD3001 PD3002 PD3003 PD3004 PD3005 PD3006 PD3007 PD8001 PD8002 PD8003 PD8004 PD8005 AT0001 AT0002 AT0003 AT0004 AT0005 AT0006 AT0007 AT1001 AT1002 AT1003 AT1004 AT1005 AT2001 AT2002 AT2003 AT2004 AT2005 AT2006 AT2007 AT2008 AT2009 AT2010 AT2011 AT2012 AT2013 AT2014 AT2015 AT2016 AT2017 AT2018 AT2021 AT3001 AT3002 AT3003 AT3004 AT3005 AT3006 AT8001 AT8002 AT8003 AT8004 AT8005 AT8006 AT8007 AT8008 AT8009 AT8010 AT9001 OV0001 OV0002 OV0003 OV0004 OV0005 OV0101 OV0102 OV0103 OV0110 OV0111 OV0112 OV0113 OV0114 OV0115 OV0116 OV0117 OV0118 OV0119 OV0120 OV0121 OV0122 OV0123 OV0124 OV1001 OV1002 OV1003 OV1004 OV1005 OV1006 OV1007 OV2001 OV2002 OV2003 OV2004 OV2005 OV2006 OV2007 OV2008 OV2009 OV2010 OV2011 OV3001 OV3002 OV3003 OV3004 OV3005 OV3006 OV3007 OV3008 OV3009 OV3010 OV3011 OV3012 OV3013 OV3014 OV4001 OV4002 OV4003 OV4004 OV4005 OV4006 OV4007 OV4008 OV4009 OV4010 OV4011 OV4012 OV4013 OV4014 OV4015 OV4016 OV4017 OV4018 QR0001 QR0002 QR0003 QR0004 QR0005 QR0006 QR1001 QR1002 QR1003 QR1004 QR1005 QR1006 QR2001 QR2002 QR2003 QR2004 QR2005 QR2006 QR2007 QR2008 QR2009 QR2010 QR2011 QR2012 QR2013 QR2014 QR2015 QR2016 QR2017 QR3001 QR3002 QR3003 QR3004 QR3005 QR3006 QR3007 QR3008 QR3009 QR3010 QR3011 QR3012 QR3013 QR3014 QR3015 QR3016 QR3017 RV0001 RV0002 RV0003 RV0004 RV0005 RV0006 RV0007 RV0008 RV0009 RV0010 RV0011 RV0021 RV0022 RV0023 RV0012 RV0013 RV0014 RV0015 RV0016 RV0017 RV0018 RV0019 RV0020 RV0024 RV1001 RV1002 RV1003 RV1004 RV1005 RV1006 RV1007 RV1008 RV1009 RV2001 RV2002 RV2003 RV2004 RV2005 RV2006 RV2007 RV2008 RV2009 RV2010 RV2011 RV3001 RV3002 RV3003 RV3004 RV3005 RV3006 RV3007 RV3008 RV4001 RV4002 RV4003 AU0001 AU0002 AU0003 AU0004 AU0005 AU0006 AU0007 AU0008 AU0009 AU1001 AU1002 AU1003 AU1004 AU1005 AU1006 AU1007 AU1008 AU1009 AU1010 AU1011 AU1012 AU1013 AU1014 AU1015 AU1016 AU1017 AU1018 AU1019 AU1020 AU1021 AU1022 AU1023 AU1024" -- "${cur}"))
                    return 0
                    ;;
                --type)
                    COMPREPLY=($(compgen -W "perf apitrace ovni qemu revent" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --sandbox)
                    COMPREPLY=($(compgen -W "auto on off" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__codes)
            opts="-h --since --format --color --sandbox --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --since)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --sandbox)
                    COMPREPLY=($(compgen -W "auto on off" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__completions)
            opts="-h --color --sandbox --help bash elvish fish powershell zsh"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --sandbox)
                    COMPREPLY=($(compgen -W "auto on off" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__cut)
            opts="-o -h --output --force --type --limits --limit --no-transport --range --time --color --sandbox --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --type)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --limits)
                    COMPREPLY=($(compgen -W "strict default large" -- "${cur}"))
                    return 0
                    ;;
                --limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --range)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --time)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --sandbox)
                    COMPREPLY=($(compgen -W "auto on off" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__diff)
            opts="-h --format --type --limits --limit --no-transport --qemu-version --color --sandbox --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --format)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                --type)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --limits)
                    COMPREPLY=($(compgen -W "strict default large" -- "${cur}"))
                    return 0
                    ;;
                --limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --qemu-version)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --sandbox)
                    COMPREPLY=($(compgen -W "auto on off" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__dump)
            opts="-o -h --format --numbers --style --output --limits --limit --no-transport --part --range --time --kind --event --calls --grep --thread --frame --from-icount --qemu-version --device --type --color --sandbox --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --format)
                    COMPREPLY=($(compgen -W "text jsonl csv" -- "${cur}"))
                    return 0
                    ;;
                --numbers)
                    COMPREPLY=($(compgen -W "number string" -- "${cur}"))
                    return 0
                    ;;
                --style)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --limits)
                    COMPREPLY=($(compgen -W "strict default large" -- "${cur}"))
                    return 0
                    ;;
                --limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --part)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --range)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --time)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kind)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --event)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --calls)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --grep)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thread)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --frame)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --from-icount)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --qemu-version)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --device)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --type)
                    COMPREPLY=($(compgen -W "perf apitrace ovni qemu revent" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --sandbox)
                    COMPREPLY=($(compgen -W "auto on off" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__explain)
            opts="-h --color --sandbox --help CM0001 CM0002 CM0003 CM0004 CM0005 CM0006 CM0101 CM0102 CM0103 CM0104 CM0105 CM9001 CM9002 TR0001 TR0002 TR0003 TR0004 TR0005 TR0006 TR0007 TR0008 TR0101 TR0103 TR0102 PD0001 PD0002 PD0003 PD0004 PD0005 PD0006 PD0007 PD0008 PD0009 PD0010 PD0011 PD0012 PD0013 PD0014 PD0015 PD0016 PD0017 PD0018 PD0019 PD0020 PD0021 PD0022 PD0023 PD0024 PD0025 PD0026 PD0027 PD0028 PD0029 PD0030 PD0031 PD0032 PD0033 PD0034 PD0035 PD0036 PD0037 PD0038 PD0039 PD1001 PD1002 PD1003 PD1004 PD1005 PD1006 PD1007 PD1008 PD1009 PD2001 PD2002 PD2003 PD2004 PD2005 PD2006 PD2007 PD2008 PD2009 PD2010 PD2011 PD2012 PD2013 PD2014 PD2015 PD2016 PD2017 PD3001 PD3002 PD3003 PD3004 PD3005 PD3006 PD3007 PD8001 PD8002 PD8003 PD8004 PD8005 AT0001 AT0002 AT0003 AT0004 AT0005 AT0006 AT0007 AT1001 AT1002 AT1003 AT1004 AT1005 AT2001 AT2002 AT2003 AT2004 AT2005 AT2006 AT2007 AT2008 AT2009 AT2010 AT2011 AT2012 AT2013 AT2014 AT2015 AT2016 AT2017 AT2018 AT2021 AT3001 AT3002 AT3003 AT3004 AT3005 AT3006 AT8001 AT8002 AT8003 AT8004 AT8005 AT8006 AT8007 AT8008 AT8009 AT8010 AT9001 OV0001 OV0002 OV0003 OV0004 OV0005 OV0101 OV0102 OV0103 OV0110 OV0111 OV0112 OV0113 OV0114 OV0115 OV0116 OV0117 OV0118 OV0119 OV0120 OV0121 OV0122 OV0123 OV0124 OV1001 OV1002 OV1003 OV1004 OV1005 OV1006 OV1007 OV2001 OV2002 OV2003 OV2004 OV2005 OV2006 OV2007 OV2008 OV2009 OV2010 OV2011 OV3001 OV3002 OV3003 OV3004 OV3005 OV3006 OV3007 OV3008 OV3009 OV3010 OV3011 OV3012 OV3013 OV3014 OV4001 OV4002 OV4003 OV4004 OV4005 OV4006 OV4007 OV4008 OV4009 OV4010 OV4011 OV4012 OV4013 OV4014 OV4015 OV4016 OV4017 OV4018 QR0001 QR0002 QR0003 QR0004 QR0005 QR0006 QR1001 QR1002 QR1003 QR1004 QR1005 QR1006 QR2001 QR2002 QR2003 QR2004 QR2005 QR2006 QR2007 QR2008 QR2009 QR2010 QR2011 QR2012 QR2013 QR2014 QR2015 QR2016 QR2017 QR3001 QR3002 QR3003 QR3004 QR3005 QR3006 QR3007 QR3008 QR3009 QR3010 QR3011 QR3012 QR3013 QR3014 QR3015 QR3016 QR3017 RV0001 RV0002 RV0003 RV0004 RV0005 RV0006 RV0007 RV0008 RV0009 RV0010 RV0011 RV0021 RV0022 RV0023 RV0012 RV0013 RV0014 RV0015 RV0016 RV0017 RV0018 RV0019 RV0020 RV0024 RV1001 RV1002 RV1003 RV1004 RV1005 RV1006 RV1007 RV1008 RV1009 RV2001 RV2002 RV2003 RV2004 RV2005 RV2006 RV2007 RV2008 RV2009 RV2010 RV2011 RV3001 RV3002 RV3003 RV3004 RV3005 RV3006 RV3007 RV3008 RV4001 RV4002 RV4003 AU0001 AU0002 AU0003 AU0004 AU0005 AU0006 AU0007 AU0008 AU0009 AU1001 AU1002 AU1003 AU1004 AU1005 AU1006 AU1007 AU1008 AU1009 AU1010 AU1011 AU1012 AU1013 AU1014 AU1015 AU1016 AU1017 AU1018 AU1019 AU1020 AU1021 AU1022 AU1023 AU1024"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --sandbox)
                    COMPREPLY=($(compgen -W "auto on off" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__formats)
            opts="-h --format --color --sandbox --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --format)
                    COMPREPLY=($(compgen -W "human json" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --sandbox)
                    COMPREPLY=($(compgen -W "auto on off" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__help)
            opts="apply verify codes formats merge completions man self-test diff cut explain check audit repair redact dump map help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__help__subcmd__apply)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__help__subcmd__audit)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__help__subcmd__check)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__help__subcmd__codes)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__help__subcmd__completions)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__help__subcmd__cut)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__help__subcmd__diff)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__help__subcmd__dump)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__help__subcmd__explain)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__help__subcmd__formats)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__help__subcmd__man)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__help__subcmd__map)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__help__subcmd__merge)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__help__subcmd__redact)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__help__subcmd__repair)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__help__subcmd__self__subcmd__test)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__help__subcmd__verify)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__man)
            opts="-h --color --sandbox --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --sandbox)
                    COMPREPLY=($(compgen -W "auto on off" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__map)
            opts="-o -h --format --depth --at --file --expanded --output --limits --limit --no-transport --part --type --color --sandbox --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --format)
                    COMPREPLY=($(compgen -W "text json html svg" -- "${cur}"))
                    return 0
                    ;;
                --depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --at)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --limits)
                    COMPREPLY=($(compgen -W "strict default large" -- "${cur}"))
                    return 0
                    ;;
                --limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --part)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --type)
                    COMPREPLY=($(compgen -W "perf apitrace ovni qemu revent" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --sandbox)
                    COMPREPLY=($(compgen -W "auto on off" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__merge)
            opts="-o -h --format --output --fail-on --color --sandbox --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --format)
                    COMPREPLY=($(compgen -W "human json jsonl oneline sarif junit github gitlab azure rdjson tap html svg" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fail-on)
                    COMPREPLY=($(compgen -W "error warning info never" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --sandbox)
                    COMPREPLY=($(compgen -W "auto on off" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__redact)
            opts="-o -h --output --out-dir --dry-run --undo-plan --force --format --limits --limit --no-transport --only --keep --type --color --sandbox --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --out-dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --undo-plan)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json" -- "${cur}"))
                    return 0
                    ;;
                --limits)
                    COMPREPLY=($(compgen -W "strict default large" -- "${cur}"))
                    return 0
                    ;;
                --limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --only)
                    COMPREPLY=($(compgen -W "host-name system command-line secret user-name process kernel-address memory network-packet key-stroke pointer-position device-input random-numbers shader-source texture-or-buffer extra-metadata file-path build-id kernel-symbol branch-trace chosen-name unknown-content address damage" -- "${cur}"))
                    return 0
                    ;;
                --keep)
                    COMPREPLY=($(compgen -W "host-name system command-line secret user-name process kernel-address memory network-packet key-stroke pointer-position device-input random-numbers shader-source texture-or-buffer extra-metadata file-path build-id kernel-symbol branch-trace chosen-name unknown-content address damage" -- "${cur}"))
                    return 0
                    ;;
                --type)
                    COMPREPLY=($(compgen -W "perf apitrace ovni qemu revent" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --sandbox)
                    COMPREPLY=($(compgen -W "auto on off" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__repair)
            opts="-o -h --output --out-dir --in-place --no-backup --dry-run --plan --format --edits --safety --lossy-warnings --partial --force --link --jobs --limits --limit --no-transport --donor --abi --for-perf --part --close-calls --strategy --upgrade --qemu-version --release --target --type --color --sandbox --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --out-dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --plan)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json" -- "${cur}"))
                    return 0
                    ;;
                --safety)
                    COMPREPLY=($(compgen -W "exact synthetic lossy" -- "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --limits)
                    COMPREPLY=($(compgen -W "strict default large" -- "${cur}"))
                    return 0
                    ;;
                --limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --donor)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --abi)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --for-perf)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --part)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --strategy)
                    COMPREPLY=($(compgen -W "close cut prefix" -- "${cur}"))
                    return 0
                    ;;
                --qemu-version)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --release)
                    COMPREPLY=($(compgen -W "always auto never" -- "${cur}"))
                    return 0
                    ;;
                --target)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --type)
                    COMPREPLY=($(compgen -W "perf apitrace ovni qemu revent" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --sandbox)
                    COMPREPLY=($(compgen -W "auto on off" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__self__subcmd__test)
            opts="-h --color --sandbox --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --sandbox)
                    COMPREPLY=($(compgen -W "auto on off" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        tracemend__subcmd__verify)
            opts="-h --color --sandbox --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --sandbox)
                    COMPREPLY=($(compgen -W "auto on off" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
    esac
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _tracemend -o nosort -o bashdefault -o default tracemend
else
    complete -F _tracemend -o bashdefault -o default tracemend
fi
